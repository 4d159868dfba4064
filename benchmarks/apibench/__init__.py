"""APIBench: choose an API of a model hub and write its call; out of distribution for what ToolBench trains."""
