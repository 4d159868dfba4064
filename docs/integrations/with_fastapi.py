"""An endpoint that answers: start it with `fastapi run with_fastapi.py`, or `uvicorn with_fastapi:app`."""

from fastapi import FastAPI, HTTPException

from atc import Agent
from protocols import UsageError

agent = Agent("openapi.yaml", auth=["bearer:env:SHOP_TOKEN"], writes="deny")
app = FastAPI()


@app.get("/answers")
def answers(question: str) -> dict[str, str | None]:
    """The answer to a question, and how far it can be relied on."""
    try:
        solution = agent.solve(question)
    except UsageError as error:  # such as an empty question
        raise HTTPException(422, str(error)) from None
    return {"answer": solution.answer, "standing": solution.standing, "message": solution.message}
