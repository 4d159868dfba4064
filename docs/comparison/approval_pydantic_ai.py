from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, RunContext
from pydantic_ai.capabilities import HandleDeferredToolCalls


def approve(context: RunContext, requests: DeferredToolRequests) -> DeferredToolResults:
    """Ask about each call."""
    answers = {call.tool_call_id: input(f"{call.tool_name} {call.args}? ") == "y" for call in requests.approvals}
    return requests.build_results(approvals=answers)


agent = Agent("openai-chat:gpt-5", capabilities=[HandleDeferredToolCalls(handler=approve)])


@agent.tool_plain(requires_approval=True)
def refund(payment: str, reason: str) -> str:
    """Give a payment back to the customer.

    Args:
        payment: Identifier of the payment.
        reason: Why it is given back.
    """
    print("sent", payment)
    return "refunded"


print(agent.run_sync("Refund payment p1001: it arrived broken.").output)
