"""How a call becomes a request: binding of arguments, credentials."""
