"""`python -m atc`: the command where it is not on the PATH."""

from atc.apps.cli import main

main(prog_name="python -m atc")
