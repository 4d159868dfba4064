"""Answer one question with two sources: an API, and Python functions of one's own.

Name a model first, such as ATC_MODEL=local:qwen2.5-coder-1.5b or ATC_MODEL=openai:gpt-4.1 with OPENAI_API_KEY.
"""

from atc import Agent
from protocols import Protocol, combine, load
from protocols.samples import sample
from protocols.simulator import Simulator


def favourite_film() -> str:
    """Name my favourite film.

    Returns: The title of the film.
    """
    return "The Silent Harbor"  # read from a file or a database; an exception would be a failed call of the program


# Functions run in this process, and the program that calls them runs in the sandbox. Hints and docstrings are all that
# the model knows of them. `reads` names those that change nothing; any other one is a write.
notes = Protocol.from_functions([favourite_film], name="My notes", reads=["favourite_film"])

# Each source has a name of its own, which its tools begin with: notes__favourite_film, cinema__GET_films.
both = combine({"notes": notes, "cinema": sample("cinema")})

# A simulated cinema stands in for a real one. With real services leave out `base_url`, and name a credential for each
# that wants one: auth=["cinema=bearer:env:CINEMA_TOKEN"].
with Simulator(load(sample("cinema")), auth=False) as service, Agent(both, base_url={"cinema": service.url}) as agent:
    solution = agent.solve("When was my favourite film released?")

print(solution.answer or solution.message, f"({solution.standing})")
for call in solution.calls:
    print(call.tool, call.arguments)

# `flow` tells where each argument came from, across the sources.
for step in solution.flow:
    print(f"call {step.call}: {step.argument} comes from {step.origin}")
