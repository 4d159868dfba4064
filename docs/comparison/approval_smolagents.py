from smolagents import CodeAgent, OpenAIModel, tool


@tool
def refund(payment: str, reason: str) -> str:
    """Give a payment back to the customer.

    Args:
        payment: Identifier of the payment.
        reason: Why it is given back.
    """
    if input(f"Refund {payment}: {reason}? ") != "y":
        return "declined"
    print("sent", payment)
    return "refunded"


agent = CodeAgent(tools=[refund], model=OpenAIModel("gpt-5"))
print(agent.run("Refund payment p1001: it arrived broken."))
