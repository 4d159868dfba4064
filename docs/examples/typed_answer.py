"""Get an answer as an object: a pydantic model says which fields it has, and of which types.

Name a model first, such as ATC_MODEL=local:qwen2.5-coder-1.5b or ATC_MODEL=openai:gpt-4.1 with OPENAI_API_KEY.
"""

from datetime import date

from pydantic import BaseModel, Field

from atc import Agent
from protocols.samples import sample


class Film(BaseModel):
    """Descriptions help the model: it is told this class as Python."""

    title: str
    release_date: date
    minutes: int = Field(gt=0, description="How long the film runs")


with Agent.from_openapi(sample("cinema"), simulate=True) as agent:
    # An answer that does not fit is revised like any other mistake of a program.
    solution = agent.solve("When was The Silent Harbor released, and how long does it run?", answer_type=Film)

film = solution.value  # a Film that was validated; None without an answer
if film is None:
    print("no answer:", solution.message)
else:
    print(f"{film.title}: {film.minutes // 60} h {film.minutes % 60:02} min, released in {film.release_date.year}")

# Any type that pydantic knows will do: answer_type=int, answer_type=list[str], answer_type=list[Film].
