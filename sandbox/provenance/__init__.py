"""A second run on the recorded replies, which tells where values come from."""
