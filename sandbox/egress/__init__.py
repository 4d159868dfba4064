"""The only way out of the sandbox: which calls leave, how they are sent and recorded."""
