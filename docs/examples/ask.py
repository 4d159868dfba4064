"""Ask one question, and look at what came of it: the answer, how far it can be relied on, and the calls behind it.

Name a model first, such as ATC_MODEL=local:qwen2.5-coder-1.5b or ATC_MODEL=openai:gpt-4.1 with OPENAI_API_KEY.
"""

from atc import Agent
from protocols.samples import sample

# The agent needs an OpenAPI document: a file or a URL. With `simulate=True` a server on this machine answers as the
# document says. For a real service leave it out, and say where the credential is: auth=["bearer:env:MY_TOKEN"].
with Agent.from_openapi(sample("cinema"), simulate=True) as agent:
    solution = agent.solve("Where is the headquarters of the studio that made the top rated film?")

# `solve` raises no exception where there is no answer: `status` and `message` tell why.
print("status:  ", solution.status, solution.message)
print("answer:  ", solution.answer)

# supported: no check speaks against it. qualified: see `note`. doubtful: see `findings`. unsupported: no reply is
# behind it.
print("standing:", solution.standing)
for finding in solution.findings:
    print("  doubt: ", finding.message)

# The calls of the program, and the places in their replies that the answer comes from.
for call in solution.calls:
    print("call:    ", call.tool, call.arguments, call.status)
for evidence in solution.evidence:
    print("evidence:", solution.calls[evidence.call].tool, evidence.path)

# The program itself, as the model wrote it.
print(solution.program)
