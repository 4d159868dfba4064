"""What an API is about, read from its protocol once."""
