"""What a program may say, and what stands for the modules that it imports."""
