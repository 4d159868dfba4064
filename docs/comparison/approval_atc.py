from atc import Agent, CallRecord


def refund(payment: str, reason: str) -> str:
    """Give a payment back to the customer.

    Args:
        payment: Identifier of the payment.
        reason: Why it is given back.
    """
    print("sent", payment)
    return "refunded"


def approve(call: CallRecord) -> bool:
    """Ask about a call that is not sent yet."""
    return input(f"{call.tool} {call.arguments}? ") == "y"


with Agent(refund, model="openai:gpt-5", writes="ask", confirm=approve) as agent:
    print(agent.solve("Refund payment p1001: it arrived broken.").answer)
