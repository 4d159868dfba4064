"""ToolLLM's corpus, server, search results and evaluation, and StableToolBench's: their files, read and written.

Source: ToolLLM (arXiv:2307.16789); StableToolBench (arXiv:2403.07714).
"""
