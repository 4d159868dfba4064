"""Forms of prompts and calls that published weights were trained on."""
