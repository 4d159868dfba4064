"""What a program gets when it imports something: curated, read-only stand-ins for modules."""
