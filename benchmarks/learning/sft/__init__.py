"""Fine-tuning on conversations: `atc train sft`.

`settings` reads a configuration, `examples` makes token ids and labels, `plan` decides the order of training, `base`
loads what is tuned, `trainer` trains and resumes, `output` writes the model, its loss curve and its card.
"""
