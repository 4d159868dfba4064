"""What is wrong with a program is said before it runs, and what is not wrong is left alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from atc.assist.check import check
from atc.assist.check.type_checker import available
from benchmarks.tasks.datasets import open_dataset
from benchmarks.tasks.references import FOLDER
from protocols.contracts.contract import Contract
from protocols.dataflow.graph import ProtocolGraph
from protocols.samples import sample
from tests.atc.assist.check.programs import HERE, checked, protocols
from tests.atc_command import atc

KINDS = ("unknown-tool", "arguments", "wrong-type", "unknown-key", "possibly-unbound")


def wrong_programs() -> list[tuple[str, str, int, str, str]]:
    """Kind, API, line, what the message says, program."""
    programs = []
    for part in (HERE / "wrong.txt").read_text("utf-8").removeprefix("== ").split("\n== "):
        head, _, program = part.partition("\n")
        kind, api, line, says = head.split(" ", 3)
        programs.append((kind, api, int(line), says, program.strip() + "\n"))
    return programs


def test_the_type_checker_is_installed() -> None:
    """Without it much of what follows would find nothing."""
    assert available() is not None


def test_there_are_ten_wrong_programs_of_each_kind() -> None:
    kinds = [kind for kind, *_ in wrong_programs()]
    assert {kind: kinds.count(kind) for kind in KINDS} == dict.fromkeys(KINDS, 10)


@pytest.mark.parametrize(("kind", "api", "line", "says", "program"), wrong_programs())
def test_a_wrong_program_is_told_where_it_is_wrong(kind: str, api: str, line: int, says: str, program: str) -> None:
    """One mistake each: its line, and what is there in place of what was written."""
    diagnostics = checked(program, api)

    assert [diagnostic.line for diagnostic in diagnostics] == [line], diagnostics
    assert says in diagnostics[0].message
    rules = {"arguments": {"unknown-argument", "missing-argument"}, "wrong-type": {"wrong-type", "wrong-value"}}
    assert diagnostics[0].rule in rules.get(kind, {kind})


def test_reference_programs_are_right() -> None:
    """No reference of the shipped benchmark has anything wrong with it."""
    for file in sorted([*(FOLDER / "tiny").iterdir(), *(FOLDER / "solved" / "tiny").iterdir()]):
        for part in file.read_text("utf-8").split("\n# after\n"):
            api = file.stem.rpartition("-")[0]
            assert [diagnostic for diagnostic in checked(part, api) if diagnostic.key != "before"] == [], file.name


@pytest.mark.parametrize("name", ["restbench-tmdb", "restbench-spotify", "toolflow"])
def test_reference_programs_of_real_apis_are_right(name: str, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is wrong with the programs that answer the questions of the benchmarks."""
    monkeypatch.setenv("ATC_DATA", str(data))
    dataset = open_dataset(name, None, ())
    contracts = {domain: Contract(protocol) for domain, protocol in dataset.protocols.items()}
    for task in dataset.tasks:
        text = (FOLDER / name / f"{task.id}.py").read_text("utf-8")
        for part in text.split("\n# after\n"):
            protocol = contracts[task.domain].protocol
            diagnostics = check(part, contracts[task.domain], None, None, ProtocolGraph(protocol))
            assert [diagnostic for diagnostic in diagnostics if diagnostic.key != "before"] == [], task.id


@pytest.mark.parametrize("program", (HERE / "open.txt").read_text("utf-8").split("==\n"))
def test_an_open_object_may_hold_anything(program: str) -> None:
    """Where the document says nothing of an object, or that more may come, no key is taken for a mistake."""
    assert checked(program, "shed") == []


@pytest.mark.parametrize(
    "program",
    [
        'film["cast"] = GET_films_filmId_credits(filmId=film["filmId"])["cast"]\nprint(film["cast"][0]["name"])',
        'film.update(GET_films_filmId(filmId=film["filmId"]))\nprint(film["synopsis"])',
        'film.setdefault("seen", True)\nprint(film["seen"])',
        'people = GET_people(query="A")["people"]\nfor one in [film, *people]:\n'
        '    print(one.get("title") or one.get("name"))',
    ],
)
def test_a_program_may_add_to_what_it_got(program: str) -> None:
    """A key that it puts into an object is there, and `.get` asks for what only some objects have."""
    begun = 'film = GET_films_top_rated()["films"][0]\n'

    assert checked(begun + program, "cinema") == []
    assert [diagnostic.rule for diagnostic in checked(begun + 'seen = {}\nseen["cast"] = film["cast"]', "cinema")] == [
        "unknown-key"
    ]


@pytest.mark.parametrize(
    "program",
    [
        'arguments = {"query": "Harbour", "page": 1}\nprint(GET_films(**arguments)["films"][0]["title"])',
        'print(GET_films(query="title,cast.name")["films"][0]["cast"])',
    ],
)
def test_arguments_that_no_checker_can_follow_are_left_alone(program: str) -> None:
    """A dict of mixed values as `**arguments`, and keys that an argument asks for, as one that selects fields does."""
    assert checked(program, "cinema") == []
    assert [
        diagnostic.rule for diagnostic in checked('print(GET_films(query="cast")["films"][0]["cast"])', "cinema")
    ] == ["unknown-key"]


@pytest.mark.parametrize(
    "use",
    [
        'print(*one["names"][:2])',
        'print(one["names"][0])',
        'print(one["first"]["name"], one["seen"])',
        'print(one["of"]["cast"])',
        'print(one["films"]["totalCount"], one["first"]["personId"])',
        'print(*[name for name in one["names"]])',
        'print(one["seen"] + 1, one["kind"].upper())',
    ],
)
def test_a_dict_of_the_program_may_hold_several_kinds_of_things(use: str) -> None:
    """Of such a dict the checker takes each value to be of any of the kinds in it."""
    mixed = '{"names": [one["name"]], "first": one, "seen": 3, "kind": "cast", "of": {"cast": 1}, "films": GET_films()}'
    for begins in (
        f"for one in [{mixed} for one in GET_people(query='Edith')['people']]:\n    {use}",
        f"people = GET_people(query='Edith')['people']\nfor one in people[:1]:\n    one = {mixed} if people else "
        f'{{"empty": True}}\n    {use}',
    ):
        assert checked(begins, "cinema") == []


def test_what_no_kind_has_is_told_of_several() -> None:
    program = 'one = {"count": 3, "share": 0.5}\nprint([row["count"]["x"] for row in [one, dict(one)]])'
    assert [(diagnostic.rule, diagnostic.line) for diagnostic in checked(program, "cinema")] == [("wrong-type", 2)]


def test_what_writes_is_never_guessed() -> None:
    """A function that would change something is put in no other's place, least of all what removes for what adds."""
    protocol = protocols()["museum"]
    offered = [tool.name for tool in protocol.tools if tool.name != "PUT_me_favourites"]
    program = 'work = GET_artworks(q="Harbour")["artworks"][0]\nPUT_me_favourites(artwork_ids=[work["artwork_id"]])\n'
    (diagnostic,) = check(program, Contract(protocol), offered, None, ProtocolGraph(protocol))

    assert any(tool.name == "DELETE_me_favourites" for tool in protocol.tools)
    assert diagnostic.rule == "unknown-tool" and "did you mean" not in diagnostic.message and diagnostic.edit is None
    (near,) = checked(program.replace("PUT_", "POST_"), "museum")
    assert near.suggestion == "PUT_me_favourites" and near.edit is None


def test_identifiers_that_nobody_gave() -> None:
    """A placeholder is one in any case; another constant, where the question does not say it."""
    program = 'print(GET_studios_studioId(studioId={})["name"])\n'

    assert [diagnostic.rule for diagnostic in checked(program.format(42), "cinema", "Where is studio 42?")] == []
    assert [diagnostic.rule for diagnostic in checked(program.format(42), "cinema")] == []
    (diagnostic,) = checked(program.format(42), "cinema", "Where is the studio of Dune?")
    assert diagnostic.rule == "made-up-identifier"
    assert 'take it from GET_films_filmId(filmId=…)["studio"]["studioId"]' in diagnostic.message
    code = 'code = "your_depot_code_here"\nprint(GET_depots_depotCode(depotCode=code)["phone"])\n'
    assert [diagnostic.rule for diagnostic in checked(code, "parcels")] == ["made-up-identifier"]


def test_what_stands_for_the_words_of_the_question_is_no_value() -> None:
    """Where it is copied from an example."""
    start = 'room = GET_rooms_room_code(room_code="W2")\n'
    spare = 'others = GET_artworks(q="…")["artworks"]\n'
    read = 'print(room["date"], GET_tickets_ticket_id(ticket_id="T1")["date"])'
    (diagnostic,) = checked(f"{start}{spare}print(room)", "museum")

    assert diagnostic.message.startswith('GET_artworks(): q="…" stands for what the question says')
    assert [(diagnostic.key, diagnostic.suggestion) for diagnostic in checked(start + read, "museum")] == [
        ("date", None),
        ("date", '["day"]'),
    ]


def test_what_was_observed_is_known(tmp_path: Path) -> None:
    """A key that the document forgot is no mistake once it was seen; one that was missing may be absent."""
    protocol = protocols()["cinema"]
    observed = {"GET_me": {"type": "object", "properties": {"memberId": {}, "points": {"type": "integer"}}}}
    contract = Contract(protocol, observed)

    assert check('print(GET_me()["points"] + 1)\n', contract) == []
    assert [diagnostic.rule for diagnostic in check('print(GET_me()["points"])\n', Contract(protocol))] == [
        "unknown-key"
    ]
    body = contract.body("GET_me")
    assert body is not None
    assert (body.keys["email"].certain, body.keys["points"].type.kind) == (False, "int")


def test_what_an_interactive_python_has_a_program_has_not() -> None:
    """`credits` is a word of a film service, and not that of Python's authors."""
    (diagnostic,) = checked('print(credits["cast"])', "cinema")
    assert (diagnostic.rule, diagnostic.message) == ("unknown-name", '"credits" is not defined')
    assert checked('credits = {"cast": []}\nprint(credits["cast"])', "cinema") == []


def test_a_syntax_error_has_its_place() -> None:
    (diagnostic,) = checked("films = GET_films(\nprint(films)\n", "cinema")
    assert (diagnostic.rule, diagnostic.line) == ("syntax", 1)


def test_the_command_tells_people_and_machines(tmp_path: Path) -> None:
    """Exit code 0 for a clean program, 1 for diagnostics, 2 for wrong usage; JSON has every part of a diagnostic."""
    program = tmp_path / "program.py"
    program.write_text('film = GET_films(query="Dune")["films"][0]\nprint(film["director"])\n')
    wrong = atc("check", program, "--api", sample("cinema"))
    answer = json.loads(atc("check", program, "--api", sample("cinema"), "--json").stdout)

    assert wrong.exit_code == 1
    assert re.search(r"program\.py:2:\d+: unknown-key: .* has no \"director\"", wrong.stdout)
    assert answer == [
        {
            "line": 2,
            "column": 11,
            "rule": "unknown-key",
            "message": answer[0]["message"],
            "tool": "GET_films",
            "suggestion": None,
        }
    ]

    program.write_text('print(GET_films(query="Dune")["films"][0]["title"])\n')
    clean = atc("check", program, "--api", sample("cinema"))
    assert (clean.exit_code, clean.stdout) == (0, "")
    assert atc("check", tmp_path / "none.py", "--api", sample("cinema")).exit_code == 2
    assert atc("check", program).exit_code == 2
