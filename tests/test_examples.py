"""The examples of the guide: each runs as it is, from any folder, with the model that `ATC_MODEL` names."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.warm import warm_commands

EXAMPLES = Path(__file__).resolve().parent.parent / "docs" / "examples"

FILM = "film = GET_films(query='The Silent Harbor')['films'][0]\n"
RELEASED = f"{FILM}print(film['releaseDate'])"
MINUTES = f"{FILM}print(GET_films_filmId(filmId=film['filmId'])['runtimeMinutes'])"
STUDIO = MINUTES.replace("['runtimeMinutes']", "['studio']['name']")
HEADQUARTERS = """\
film = GET_films_top_rated()['films'][0]
studio = GET_films_filmId(filmId=film['filmId'])['studio']
print(GET_studios_studioId(studioId=studio['studioId'])['headquarters'])"""


def fenced(program: str) -> str:
    """A program as a model answers with it."""
    return f"```python\n{program}\n```"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], str]:
    """Runs an example from another folder, and gives what it prints."""
    monkeypatch.setenv("ATC_MODEL", "openai:scripted")

    def start(name: str) -> str:
        command = [str(warm_commands() / "python"), str(EXAMPLES / name)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return start


def test_every_example_is_short() -> None:
    """Each has under 50 lines and a docstring that says what it is about, and is on the page of examples."""
    files = sorted(EXAMPLES.glob("*.py"))
    texts = [file.read_text("utf-8") for file in files]
    page = (EXAMPLES.parent / "examples.md").read_text("utf-8")

    assert [file.name for file in files if f'--8<-- "examples/{file.name}"' not in page] == []
    assert len(texts) == 5
    assert all(text.startswith('"""') and len(text.splitlines()) < 50 for text in texts)


def test_a_question(run: Callable[[str], str], endpoint: Callable[..., None]) -> None:
    """`ask.py` prints the answer, its standing, the calls and the evidence."""
    endpoint(fenced(HEADQUARTERS))
    printed = run("ask.py")

    assert "status:   answered" in printed
    assert "answer:   Graz, Austria" in printed
    assert "standing: supported" in printed
    assert "call:     GET_films_top_rated {} 200" in printed
    assert "evidence: GET_studios_studioId ('headquarters',)" in printed
    assert HEADQUARTERS in printed


def test_an_answer_with_a_type(run: Callable[[str], str], endpoint: Callable[..., None]) -> None:
    """`typed_answer.py`: an answer that does not fit the type is revised, and the right one is an object."""
    details = f"import json\n{FILM}detail = GET_films_filmId(filmId=film['filmId'])\n"
    answer = "{'title': film['title'], 'release_date': film['releaseDate'], 'minutes': detail['runtimeMinutes']}"
    endpoint(fenced(RELEASED), fenced(f"{details}print(json.dumps({answer}))"))

    assert run("typed_answer.py") == "The Silent Harbor: 1 h 52 min, released in 2019\n"


def test_approved_writes(run: Callable[[str], str], endpoint: Callable[..., None]) -> None:
    """`approve_writes.py` lists the one write with the origin of its value, and then it is done."""
    endpoint(fenced(f"{FILM}PUT_me_watchlist(filmIds=[film['filmId']])\nprint('added', film['title'])"))
    printed = run("approve_writes.py")

    assert "1. PUT http://127.0.0.1" in printed
    assert "filmIds.0 = 41 (from: read)" in printed
    assert printed.endswith("answered added The Silent Harbor\nPUT_me_watchlist done\n")


def test_writes_that_are_not_approved(run: Callable[[str], str], endpoint: Callable[..., None]) -> None:
    """`approve_writes.py` approves no other write: a program that wants one is refused."""
    endpoint(fenced(f"{FILM}POST_films_filmId_reviews(filmId=film['filmId'], stars=5, text='good')\nprint('done')"))

    assert run("approve_writes.py").endswith("POST_films_filmId_reviews new\n")


def test_several_sources(run: Callable[[str], str], endpoint: Callable[..., None]) -> None:
    """`several_apis.py`: what a Python function returns is the argument of a call of the API."""
    program = RELEASED.replace("GET_", "cinema__GET_").replace("'The Silent Harbor'", "title")
    endpoint(fenced(f"title = notes__favourite_film()\n{program}"))
    printed = run("several_apis.py")

    assert printed.startswith("2019-03-14 (")
    assert "call 1: query comes from response" in printed


def test_events_and_two_questions_at_once(run: Callable[[str], str], endpoint: Callable[..., None]) -> None:
    """`follow_events.py` prints the fault of a first program and the calls of the next; then two answers."""
    minutes = MINUTES.replace("The Silent Harbor", "Engines of Autumn")
    together = {"When was": fenced(RELEASED), "How many minutes": fenced(minutes)}
    endpoint(fenced("print(GET_films_filmId(filmId=99)['studio']['name'])"), fenced(STUDIO), together)
    lines = run("follow_events.py").splitlines()

    assert lines[:3] == ["attempt 1: a program of 1 lines", "  line 1: GET_films_filmId -> 404", lines[2]]
    assert lines[2].endswith("to blame: GET_films_filmId")
    assert "answer: Southern Valley Industries" in lines
    assert lines[-2] == "When was The Silent Harbor released? -> 2019-03-14 (supported)"
    assert lines[-1].startswith("How many minutes does Engines of Autumn run? -> ")


def test_the_notebook(endpoint: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It runs from top to bottom in an empty folder, and is stored without outputs."""
    monkeypatch.setenv("ATC_MODEL", "openai:scripted")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    endpoint(fenced(STUDIO), fenced(RELEASED), fenced(MINUTES))
    notebook = nbformat.read(EXAMPLES / "first_steps.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]

    assert [cell for cell in cells if cell.outputs or cell.execution_count] == []

    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = "\n".join(str(output) for cell in cells for output in cell.outputs)

    assert "Southern Valley Industries" in shown
    assert "2019-03-14" in shown
    assert "112" in shown
    assert "GET_films from before" in shown
    assert "Which studio made The Silent Harbor?" in (tmp_path / "solution.html").read_text("utf-8")
