"""Which calls answer a question, from the data flow between the tools."""
