"""Functions of this process as tools: their signatures, hints and docstrings are read, and they are called here."""
