"""A program by anybody, whose writes are approved as a list before one of them is sent."""

from atc import WritePlan, run_program
from protocols.samples import sample

PROGRAM = """\
film = GET_films(query="The Silent Harbor")["films"][0]
PUT_me_watchlist(filmIds=[film["filmId"]])
print("added", film["title"])
"""


def approve(plan: WritePlan) -> bool:
    """Show what the program is about to change, and where each value is from."""
    for write in plan.asked:
        print(write.tool, [(value.value, value.origin) for value in write.values])
    return True


# `simulate=True` stands in for the real service; leave it out to send the writes there.
result = run_program(sample("cinema"), PROGRAM, simulate=True, writes="plan", confirm_plan=approve)

print(result.run.outcome, [(call.tool, call.status) for call in result.run.calls])
print(result.run.stdout, end="")
