"""The `atc` command, in this process or as its own, and a question about films with a right and a wrong program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from atc.apps.cli import main

ATC = str(Path(sys.executable).with_name("atc"))
QUESTION = "Who directed The Long Tide?"
RIGHT = """```python
film = GET_search_film(query="The Long Tide")["results"][0]
crew = GET_film_film_id_credits(film_id=film["id"])["crew"]
print([person["name"] for person in crew if person["job"] == "Director"][0])
```"""
WRONG = RIGHT.replace('["results"][0]', '["results"][99]')


def atc(*arguments: object) -> Result:
    """Run the command in this process, where there is no terminal."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def solve(films: Path, *arguments: str | Path) -> Result:
    """Ask the scripted model about a simulated API."""
    return atc("solve", QUESTION, "--api", films, "--simulate", "--model", "openai:scripted", *arguments)


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    """Start the command as a process of its own."""
    command = [ATC, *(str(argument) for argument in arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
