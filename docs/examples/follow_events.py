"""Follow a question while it is solved, and solve two at once; for programs that use asyncio.

Name a model first, such as ATC_MODEL=local:qwen2.5-coder-1.5b or ATC_MODEL=openai:gpt-4.1 with OPENAI_API_KEY.
"""

import asyncio

from atc import Agent, CallMade, Event, FaultFound, ProgramWritten, SolveEnded
from protocols.samples import sample


def show(event: Event) -> None:
    """Print the events that this example is about; atc.events lists all of them."""
    match event:
        case ProgramWritten(attempt=attempt, program=program):
            print(f"attempt {attempt}: a program of {len(program.splitlines())} lines")
        case CallMade(call=call):
            print(f"  line {call.line}: {call.tool} -> {call.status}")
        case FaultFound(fault=fault, attribution=attribution):  # the next attempt repairs it
            print(f"  {fault.type}, to blame: {attribution.tool}")
        case SolveEnded(solution=solution):  # the last event has the whole solution
            print("answer:", solution.answer)


async def main() -> None:
    async with Agent.from_openapi(sample("cinema"), simulate=True) as agent:
        async for event in agent.astream("Which studio made The Silent Harbor?"):
            show(event)

        # Two questions share the agent. An endpoint is asked about both at once; a local model answers in turn.
        questions = ["When was The Silent Harbor released?", "How many minutes does Engines of Autumn run?"]
        for solution in await asyncio.gather(*map(agent.asolve, questions)):
            print(solution.query, "->", solution.answer, f"({solution.standing})")


asyncio.run(main())
