import asyncio

from google.adk.agents import Agent
from google.adk.runners import InMemoryRunner
from google.adk.tools import FunctionTool
from google.genai import types


def refund(payment: str, reason: str) -> str:
    """Give a payment back to the customer.

    Args:
        payment: Identifier of the payment.
        reason: Why it is given back.
    """
    print("sent", payment)
    return "refunded"


agent = Agent(name="shop", model="gemini-2.5-pro", tools=[FunctionTool(refund, require_confirmation=True)])


async def main() -> None:
    """The run ends with a request for confirmation; its answer begins the next one in the same session."""
    runner = InMemoryRunner(agent)
    events = await runner.run_debug("Refund payment p1001: it arrived broken.", quiet=True)
    call = next(call for event in events for call in event.get_function_calls() if event.long_running_tool_ids)
    confirmed = input(f"{call.args['originalFunctionCall']}? ") == "y"
    reply = types.FunctionResponse(id=call.id, name=call.name, response={"confirmed": confirmed})
    message = types.Content(role="user", parts=[types.Part(function_response=reply)])
    session = {"user_id": "debug_user_id", "session_id": "debug_session_id"}
    async for event in runner.run_async(**session, new_message=message):
        if event.is_final_response():
            print(event.content.parts[0].text)


asyncio.run(main())
