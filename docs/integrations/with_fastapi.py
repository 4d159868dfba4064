"""An endpoint that answers: start it with `fastapi run with_fastapi.py`, or `uvicorn with_fastapi:app`."""

from fastapi import FastAPI

from atc import Agent

agent = Agent("openapi.yaml", auth=["bearer:env:SHOP_TOKEN"], writes="deny")
app = FastAPI()


@app.get("/answers")
def answers(question: str) -> dict[str, str | None]:
    """The answer to a question, and how far it can be relied on."""
    solution = agent.solve(question)
    return {"answer": solution.answer, "standing": solution.standing, "message": solution.message}
