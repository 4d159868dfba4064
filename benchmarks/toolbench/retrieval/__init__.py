"""The API retriever over ToolBench's files: documents, evaluation, the command."""
