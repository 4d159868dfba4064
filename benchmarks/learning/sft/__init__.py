"""Fine-tuning on conversations: `atc train sft`.

`settings` reads a configuration, `examples` makes token ids and labels, and decides the order of training, `base` loads
what is tuned, and writes the tuned model with its card, `trainer` trains and resumes.
"""
