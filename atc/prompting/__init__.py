"""What the model is asked: the prompt, the conversation after it, and their templates."""
