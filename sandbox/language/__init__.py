"""The language of programs: its policy, its guards, and stand-ins for the modules that it imports."""
