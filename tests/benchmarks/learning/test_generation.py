"""Instructions that a model writes for sampled APIs: what is drawn, what is refused, and how a run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from benchmarks.learning.generation.checks import InstructionChecks, SeenTexts
from benchmarks.learning.generation.pool import PooledAPI, ToolPool, proposed_collections
from benchmarks.learning.generation.writing import BadInstructionError, WrittenInstruction, read_text, read_values
from benchmarks.toolbench.corpus.queries import read_queries
from benchmarks.toolbench.server.catalogue import Catalogue
from tests.local_api import Answer, LocalAPI

PORT = {"name": "Port Code", "type": "STRING", "description": "Its code", "default": "ESB"}
DAY = {"name": "day", "type": "STRING", "description": "A day", "default": ""}
LONG = (
    "I teach at a small school and prepare a lesson for Monday about the sea and the moon. When is high water at the "
    "port {port} on {day}, and which other ports of this country could my class look at instead?"
)


def record(api: str, description: str, parameters: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """A record of a tool file."""
    return {
        "name": api,
        "description": description,
        "method": "GET",
        "required_parameters": list(parameters),
        "optional_parameters": [],
        "template_response": {"result": {"name": "str", "count": "int"}},
    }


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of tool files: two categories with two tools each, alike across the categories."""
    tides = "The tides and water levels of a sea port"
    contents = {
        ("Travel", "Harbour Tides"): [
            record("Get Tide", tides, [PORT, DAY]),
            record("List Ports", "All sea ports of a country"),
        ],
        ("Travel", "Parcel Desk"): [record("Track", "Where a parcel with a number is", [DAY])],
        ("Science", "Sea Levels"): [record("levels", f"{tides}, measured", [PORT])],
        ("Science", "Parcel Lab"): [record("Lookup", "Where a parcel with a number is kept")],
    }
    for (category, tool), apis in contents.items():
        file = tmp_path / "tools" / category / f"{tool.lower().replace(' ', '_')}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"tool_name": tool, "tool_description": "", "api_list": apis}))
    return tmp_path / "tools"


@pytest.fixture
def pool(tools: Path) -> ToolPool:
    """The APIs of these files."""
    return ToolPool(Catalogue([tools]))


@pytest.fixture
def tides(pool: ToolPool) -> tuple[PooledAPI, ...]:
    """The APIs of the first tool."""
    return pool.tools["Travel", "harbour_tides"]


RIB, ESB = {"port_code": "RIB", "day": "2024-07-14"}, {"port_code": "ESB", "day": "2024-07-14"}
WRITTEN = LONG.format(port="RIB", day="2024-07-14")


def test_collections_span_categories(pool: ToolPool) -> None:
    """Tools of like purpose from two categories are a collection, which the instructions of I3 draw from."""
    assert sorted(map(sorted, proposed_collections(pool))) == [
        [("Science", "parcel_lab"), ("Travel", "parcel_desk")],
        [("Science", "sea_levels"), ("Travel", "harbour_tides")],
    ]


def test_apis_are_drawn_by_kind(pool: ToolPool) -> None:
    """I1 goes through all tools, I2 stays in a category, I3 leaves it; the same number draws the same again."""
    groups = [[("Travel", "harbour_tides"), ("Science", "sea_levels")]]
    single = [pool.draw("I1", number, 0, []) for number in range(4)]
    category = [pool.draw("I2", number, 0, []) for number in range(8)]
    collection = pool.draw("I3", 0, 0, groups)

    assert {api.tool for apis in single for api in apis} == {"Harbour Tides", "Parcel Desk", "Sea Levels", "Parcel Lab"}
    assert all(len({api.address.tool for api in apis}) == 1 for apis in single)
    assert all(len({api.address.tool for api in apis}) == 2 for apis in category)
    assert all(len({api.address.category for api in apis}) == 1 for apis in category)
    assert {api.address.category for api in collection} == {"Travel", "Science"}
    assert collection == pool.draw("I3", 0, 0, groups)
    for number, apis in enumerate(category):
        assert len({api.tool for api in pool.needed("I2", number, 0, apis)}) == 2


def test_tools_of_one_name_are_of_their_categories(tools: Path) -> None:
    """An instruction about several tools may need two that only their categories tell apart."""
    for category in ("Science", "Travel"):
        apis = [record(name, "The weather of a place") for name in ("today", "tomorrow")]
        file = tools / category / "weather.json"
        file.write_text(json.dumps({"tool_name": "Weather", "tool_description": "", "api_list": apis}))
    pool = ToolPool(Catalogue([tools]))
    groups = [[("Travel", "weather"), ("Science", "weather")]]

    for number in range(8):
        apis_needed = pool.needed("I3", number, 0, pool.draw("I3", number, 0, groups))
        assert {api.key for api in apis_needed} == {("Travel", "weather"), ("Science", "weather")}


@pytest.mark.parametrize(
    "text",
    [
        "{'port_code': 'RIB', 'day': 'Monday'}",
        '{"port_code": "RIB"}',
        '{"port_code": "RIB", "day": "Monday", "unit": "m"}',
        '["RIB", "Monday"]',
        '{"port_code": NaN, "day": "Monday"}',
    ],
)
def test_values_of_another_form_are_refused(tides: tuple[PooledAPI, ...], text: str) -> None:
    """One JSON object with the required parameters and no others; nothing is corrected on the way."""
    with pytest.raises(BadInstructionError):
        read_values(text, tides)


@pytest.mark.parametrize("text", ["When is high water, and", '{"query": "When?"}', 'As asked: {"query": "When?"}.'])
def test_a_text_that_is_none_is_refused(text: str) -> None:
    """A text that was cut off, or that is JSON, is no instruction."""
    with pytest.raises(BadInstructionError):
        read_text(text)


@pytest.mark.parametrize(
    ("text", "values", "refused_by", "why"),
    [
        (WRITTEN, RIB, "", ""),
        ("It is Monday, and we would like to know it all. " * 4, RIB, "related", "does not ask for Get Tide"),
        ("When is high water at the port RIB on 2024-07-14?", RIB, "words", "it has 10 words"),
        (f"{WRITTEN} I like Get Tide.", RIB, "names", "Get Tide"),
        (f"{WRITTEN} Use list_ports_for_harbour_tides.", RIB, "names", "list_ports_for"),
        (f"{WRITTEN} Run get_tide.", RIB, "names", "get_tide"),
        (f"{WRITTEN} Use 'get tide' for it.", RIB, "names", "'get tide'"),
        (f"{WRITTEN} Where do we get tide tables?", RIB, "", ""),
        (f"{WRITTEN} Ask the harbour tides API.", RIB, "names", "Harbour Tides"),
        (f"{WRITTEN} Which endpoint has them?", RIB, "names", "it speaks of an endpoint"),
        (WRITTEN, {**RIB, "day": "2024-08-01"}, "concrete", "'2024-08-01', the day, is not in the text"),
        (WRITTEN, {**RIB, "day": ""}, "concrete", "the day is ''"),
        (WRITTEN, {**RIB, "port_code": "port_code"}, "concrete", "the port_code is"),
        (WRITTEN.replace("RIB", "[port]"), ESB, "concrete", "placeholder"),
        (WRITTEN.replace("2024-07-14", "2024 07 14"), RIB, "", ""),
    ],
)
def test_each_check_says_why_it_refuses(
    tides: tuple[PooledAPI, ...], text: str, values: Mapping[str, Any], refused_by: str, why: str
) -> None:
    """Every API is asked for, thirty words, no names of APIs, and the text says each value."""
    name, reason = InstructionChecks(SeenTexts(), None).refusal(WrittenInstruction(text, values), tides)

    assert name == refused_by
    assert why in reason


def test_a_near_duplicate_is_refused(tides: tuple[PooledAPI, ...]) -> None:
    """Another date and port do not make an instruction new."""
    checks = InstructionChecks(SeenTexts([LONG.format(port="ESB", day="2023-01-01")]), None)

    assert checks.refusal(WrittenInstruction(WRITTEN, RIB), tides)[0] == "new"


OTHER = (
    "Every spring my father paints the wall of his boat house, and he has to know how far up the sea comes. Which "
    "water levels were measured in ESB lately, and how high above the mark were they?"
)


def command(tools: Path, out: Path, *more: str) -> list[str]:
    """`atc toolbench generate` with a model on localhost."""
    arguments = ["--kind", "I1", "--model", "openai:scripted", "--out", str(out), "--simulate", "--json", *more]
    return ["toolbench", "generate", str(tools), *arguments]


def test_instructions_become_a_query_file(tools: Path, tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """The calls are tried; what is accepted is read by the benchmark, and every check has its rate."""
    out = tmp_path / "queries.json"
    endpoint("no values", '{"port_code": "ESB"}', LONG.format(port="ESB", day="Monday"))
    done = CliRunner().invoke(main, command(tools / "Science" / "sea_levels.json", out, "--count", "1"))

    assert done.exit_code == 0, done.output
    counted = json.loads(done.stdout)
    assert counted["accepted"] == 1
    assert counted["checks"]["form"] == {"reached": 2, "passed": 1, "rate": 0.5}
    assert counted["checks"]["runs"] == {"reached": 1, "passed": 1, "rate": 1.0}
    assert set(counted["checks"]) == {"form", "related", "words", "names", "concrete", "new", "runs"}
    (query,) = read_queries(out)
    assert query.gold == ("levels_for_sea_levels",)


def test_a_run_goes_on_where_it_was(tools: Path, tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """The attempts so far are read, not asked again; other settings want another file."""
    out = tmp_path / "queries.json"
    endpoint("nothing")
    arguments = command(tools, out, "--count", "1")
    stopped = CliRunner().invoke(main, [*arguments, "--max-tokens", "900"])
    attempts = (tmp_path / "queries.attempts.jsonl").read_text().splitlines()
    endpoint("Where is a parcel kept that nobody took, and how does one find out about it there? " * 3)
    again = CliRunner().invoke(main, arguments)
    finished = CliRunner().invoke(main, arguments)
    seeded = CliRunner().invoke(main, [*arguments, "--seed", "1"])

    assert "budget of 900 tokens" in stopped.stderr
    assert json.loads(stopped.stdout)["accepted"] == 0
    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["accepted"] == 1
    assert (tmp_path / "queries.attempts.jsonl").read_text().splitlines()[: len(attempts)] == attempts
    assert (finished.stdout, "1/1" in finished.stderr) == (again.stdout, True)
    assert seeded.exit_code == 2
    assert "seed is 1 now and was 0" in " ".join(seeded.stderr.split())


def test_a_call_that_the_server_fails_at_is_refused(tools: Path, tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """Only that attempt: a server that answers is there. One that is away ends the run, and the attempt is free."""
    values = '{"port_code": "ESB"}'
    endpoint(values, LONG.format(port="ESB", day="Monday"), values, OTHER)
    source, out = tools / "Science" / "sea_levels.json", tmp_path / "queries.json"
    arguments = [argument for argument in command(source, out, "--count", "1") if argument != "--simulate"]
    with LocalAPI() as api:
        api.script("POST", "/virtual", Answer(500, {}), Answer(200, {"error": "", "response": {"levels": 3}}))
        done = CliRunner().invoke(main, [*arguments, "--server", api.url])
    endpoint(values, LONG.format(port="ESB", day="Monday"))
    away = CliRunner().invoke(
        main, [*arguments, "--out", str(tmp_path / "b.json"), "--server", "http://127.0.0.1:9", "--seed", "3"]
    )

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["checks"]["runs"] == {"reached": 2, "passed": 1, "rate": 0.5}
    assert away.exit_code == 6
    assert not (tmp_path / "b.attempts.jsonl").exists()


def test_damaged_attempts_are_named(tools: Path, tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """The message has the file and the line; without it and those after it the run goes on."""
    endpoint("Where is a parcel kept that nobody took, and how does one find out about it there? " * 3)
    out, file = tmp_path / "queries.json", tmp_path / "queries.attempts.jsonl"
    arguments = command(tools, out, "--count", "1")
    whole = CliRunner().invoke(main, arguments)
    first, second = file.read_text().splitlines()
    assert whole.exit_code == 0 and [json.loads(text).get("number") for text in (first, second)] == [0, 1]

    for line in (5, {"number": 0, "refused_by": "words"}):
        file.write_text(f"{first}\n{json.dumps(line)}\n")
        damaged = CliRunner().invoke(main, arguments)
        assert damaged.exit_code == 2
        why = f"{file}, line 2: this is not attempt 1; delete this line and all after it to go on from there"
        assert why in " ".join(damaged.stderr.split())
    file.write_text(f"{first}\n")
    assert json.loads(CliRunner().invoke(main, arguments).stdout) == json.loads(whole.stdout)


def test_a_file_that_it_has_not_made_is_left_alone(tools: Path, tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """A query file without its attempts is somebody's; a smaller count takes nothing from one that it has made."""
    values = '{"port_code": "ESB"}'
    endpoint(values, LONG.format(port="ESB", day="Monday"), values, OTHER)
    source, out = tools / "Science" / "sea_levels.json", tmp_path / "queries.json"
    more = [CliRunner().invoke(main, command(source, out, "--count", count)) for count in ("2", "1")]
    (tmp_path / "queries.attempts.jsonl").unlink()
    before = out.read_text()
    refused = CliRunner().invoke(main, command(source, out, "--count", "1"))

    assert [json.loads(done.stdout)["accepted"] for done in more] == [2, 2]
    assert len(read_queries(out)) == 2
    assert refused.exit_code == 2
    assert f"{out} exists, and was not made by this command" in " ".join(refused.stderr.split())
    assert out.read_text() == before


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--server", "http://127.0.0.1:1", "--simulate"], "exclude"),
        (["--max-seconds", "nan"], "'nan' is no finite number"),
    ],
)
def test_options_that_do_not_fit_are_refused(tools: Path, tmp_path: Path, more: list[str], why: str) -> None:
    """The message names the option that is missing or too many."""
    done = CliRunner().invoke(main, command(tools, tmp_path / "q.json", "--count", "1", *more))

    assert done.exit_code == 2
    assert why in done.output
