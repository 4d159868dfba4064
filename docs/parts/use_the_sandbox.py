"""The sandbox alone: a program without files, environment or network, under limits."""

from sandbox import Limits, Sandbox

with Sandbox(None, limits=Limits(wall=2, memory=128)) as sandbox:
    for program in ("print(sum(range(10)))", "open('/etc/passwd')", "while True: pass"):
        run = sandbox.run(program)
        print(run.outcome, run.limit or run.stdout.strip() or (run.error and run.error.message))
