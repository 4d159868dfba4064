"""Approve what a program writes, once and as a list; it can then write nothing else.

Name a model first, such as ATC_MODEL=local:qwen2.5-coder-1.5b or ATC_MODEL=openai:gpt-4.1 with OPENAI_API_KEY.
"""

from atc import Agent, WritePlan
from protocols.samples import sample


def approve(plan: WritePlan) -> bool:
    """Decide about the writes of a program, none of which has been sent. Here every watchlist change is approved."""
    for write in plan.asked:
        print(f"{write.number}. {write.method} {write.url}")
        for value in write.values:  # with the origin of each: the question, a reply, the program itself
            print(f"     {'.'.join(map(str, value.place))} = {value.value!r} (from: {value.origin})")
    return all(write.tool == "PUT_me_watchlist" for write in plan.asked)


# With `writes="plan"` a program runs twice. The first run sends reads alone, and its writes become the plan. After a
# yes the second run sends these writes; one that is not in the plan is stopped before it leaves.
with Agent.from_openapi(sample("cinema"), simulate=True, writes="plan", confirm_plan=approve) as agent:
    solution = agent.solve("Put The Silent Harbor on my watchlist")

print(solution.status, solution.answer or solution.message)  # "refused" after a no

# What became of each write: done, failed, or unknown where no reply came.
if solution.write_plan is not None:
    for write in solution.write_plan.writes:
        print(write.tool, write.state)
