"""One measurement each: `python -m benchmarks.micro.NAME`."""
