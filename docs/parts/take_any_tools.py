"""One agent for an API and a Python function, and the agent as a function for another framework."""

import inspect

from atc import Agent
from protocols.samples import sample


def favourite_film() -> str:
    """Name my favourite film.

    Returns: The title of the film.
    """
    return "The Silent Harbor"


tools = [favourite_film, sample("cinema")]
with Agent(tools, model="openai:gpt-4.1", reads=["favourite_film"], writes="deny") as agent:
    ask = agent.as_tool()

print(ask.__name__, inspect.signature(ask, eval_str=True))
print(inspect.getdoc(ask))
