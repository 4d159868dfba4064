"""The journal alone: a program that is run again, after a failure or a kill, repeats no write."""

from pathlib import Path
from tempfile import TemporaryDirectory

from atc import Agent
from protocols.samples import sample
from sandbox import Journal

WRITE = 'PUT_me_watchlist(filmIds=[GET_films_top_rated()["films"][0]["filmId"]])\n'

with TemporaryDirectory() as folder, Agent(sample("cinema"), simulate=True, writes="allow") as agent:
    for program in (WRITE + "print(1 / 0)", WRITE + "print('done')"):
        with Journal(Path(folder) / "calls.journal") as journal:
            run = agent.run_program(program, journal).run
        print(run.outcome, [(call.tool, call.replayed) for call in run.calls])
