"""`atc train data`: pairs that run, in prompts as they are at inference, without the tasks of benchmarks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner, Result

from atc.agent import SIMULATED_NOW, Agent
from atc.apps.cli import main
from atc.files import read_lines
from benchmarks.learning.exclusion import read_gold
from benchmarks.learning.pairs.code import constant, part, print_program, request, shape, statements
from benchmarks.learning.pairs.draft import NoQuestion, QuestionPair
from benchmarks.learning.pairs.questions import ReadQuestions
from benchmarks.learning.pairs.reach import Reach
from benchmarks.learning.pairs.trial import Trial
from benchmarks.learning.pairs.views import APIViews
from benchmarks.learning.pairs.wording import form, plural, superlative
from benchmarks.learning.pairs.writes import WriteQuestions, reading_back
from benchmarks.learning.pairs_command import data as data_command
from protocols import load
from protocols.dataflow.graph import ProtocolGraph
from protocols.errors import UsageError

CINEMA = Path(__file__).parents[3] / "protocols" / "samples" / "cinema.yaml"
REVIEW = 'POST_films_filmId_reviews(filmId=GET_films(query="The Long Road")["films"][0]["filmId"], stars=4'


@pytest.fixture(scope="module")
def trial() -> Iterator[Trial]:
    """Trials in the simulated cinema, with 5 tools in a prompt."""
    tried = Trial(load(CINEMA), 0, 5)
    yield tried
    tried.close()


def drafts(trial: Trial, count: int) -> list[QuestionPair]:
    """Pairs that read, and then as many that write."""
    reach = Reach(trial.views, {})
    pairs: list[QuestionPair] = []
    for questions, tools in (
        (ReadQuestions(reach), trial.views.reads),
        (writes := WriteQuestions(reach), writes.tools),
    ):
        number, enough = 0, len(pairs) + count
        while len(pairs) < enough:
            number += 1
            try:
                pairs.append(questions.ask(tools[number % len(tools)], Random(number)))
            except NoQuestion:
                continue
    return pairs


def run_command(out: Path, *options: str) -> Result:
    """`atc train data` over the cinema."""
    arguments = ["--from-protocol", str(CINEMA), "--out", str(out), "--json", *options]
    return CliRunner().invoke(data_command, arguments)


def lines_of(file: Path) -> list[dict[str, Any]]:
    """The pairs of a file."""
    return [line for _, line in read_lines(file)]


def test_command_writes_pairs_and_goes_on(tmp_path: Path) -> None:
    """A second run with the same seed adds to the file; what a stop left unfinished is removed first.

    Pairs of another seed, another prompt or an excluded task do not come into it; the message says what differs.
    """
    out = tmp_path / "pairs.jsonl"
    tasks = tmp_path / "tasks.json"
    gold = ["GET /people", "GET /people/{personId}"]
    tasks.write_text(json.dumps([{"query": "When was Ada Dahl born?", "solution": gold}]))

    first = run_command(out, "--count", "2", "--exclude", str(tasks))
    before = out.read_text()
    out.write_text(f'{before}{{"id": "0-00')
    second = run_command(out, "--count", "4", "--exclude", str(tasks))

    assert first.exit_code == second.exit_code == 0, first.output + second.output
    counts = json.loads(second.stdout)
    pairs = lines_of(out)
    assert out.read_text().startswith(before)
    assert (counts["before"], counts["written"], len(pairs)) == (2, 2, 4)
    assert counts["excluded_tasks"] == 1 and counts["multisets"] <= 4
    assert len({pair["id"] for pair in pairs}) == len({pair["question"] for pair in pairs}) == 4
    assert all(set(pair["tools"]) != {"GET_people", "GET_people_personId"} for pair in pairs)
    assert max(Counter(pair["form"] for pair in pairs).values()) == counts["most_of_a_form"]
    assert all(pair["shape"] == shape(pair["program"]) and pair["answer"] for pair in pairs)
    whole, excluded = out.read_bytes(), tmp_path / "excluded.json"
    excluded.write_text(json.dumps([{"query": "Which ones?", "solution": pairs[0]["tools"]}]))
    for options, message in (
        (["--seed", "3"], "seed is 3 now and was 0"),
        (["--candidates", "4"], "candidates is 4 now and was 5"),
        (["--profile", "small"], "profile is 'small' now and was 'tiny'"),
        (["--exclude", str(excluded)], "exclusion is"),
    ):
        with pytest.raises(UsageError) as refused:
            CliRunner().invoke(
                data_command, ["--from-protocol", str(CINEMA), "--out", str(out), *options], catch_exceptions=False
            )
        assert message in str(refused.value)
    assert out.read_bytes() == whole


def test_prompt_is_that_of_solve(trial: Trial) -> None:
    """The messages are those that `atc solve --tools 5 --profile tiny` sends, with the program as the answer."""
    agent = Agent(trial.protocol, None, now=SIMULATED_NOW, max_tools=5, profile="tiny")
    tried = [(pair, trial("0-1", pair, "")) for pair in drafts(trial, 2)]
    kept_lines = [(pair, result.line) for pair, result in tried if not result.dropped]

    assert kept_lines
    for pair, line in kept_lines:
        messages = line["messages"]
        assert isinstance(messages, list)
        opened = agent.opening(pair.question, today="2024-06-01")
        missing = [name for name in pair.tools if name not in opened.tools]
        if missing:
            names = [tool.name for tool in trial.protocol.tools if tool.name in {*opened.tools, *missing}]
            opened = agent.opening(pair.question, names, "2024-06-01")
        sent = [(message.role, message.content) for message in opened.messages()]
        assert [(message["role"], message["content"]) for message in messages[:-1]] == sent
        assert messages[-1] == {"role": "assistant", "content": f"```python\n{pair.program}\n```"}


@pytest.mark.parametrize(
    ("question", "program", "reason"),
    [
        ("Who is Ada Dahl?", "print(GET_people(name='Ada Dahl')['people'][0]['name'])", "check"),
        ("Which film is first?", "print(GET_films_top_rated()['films'][999]['title'])", "run"),
        ("Which films are there?", "print([film for film in GET_films()['films'] if film['title'] == ''])", "empty"),
        ("Which film is first?", "GET_films_top_rated()\nprint('The Long Road')", "unsupported"),
    ],
)  # fmt: skip
def test_wrong_programs_are_dropped(trial: Trial, question: str, program: str, reason: str) -> None:
    """A program is dropped that the check refuses, that fails, or whose answer is empty or its own."""
    assert trial("0-1", QuestionPair(question, program, (), ()), "").dropped == reason


def test_writes_are_seen_in_the_service(trial: Trial) -> None:
    """A write counts if reads then tell of it; one whose reads are as before is dropped."""
    program = f'{REVIEW}, text="Quite wonderful")\nprint("done")'
    question = 'Write a review of the film "The Long Road" with 4 stars and the text "Quite wonderful".'
    absent = 'film = GET_films_top_rated()["films"][0]\nDELETE_me_watchlist(filmIds=[film["filmId"]])\nprint("done")'

    written = trial("0-1", QuestionPair(question, program, (), (), writes=True), "")
    useless = trial("0-2", QuestionPair("Take the top film off my watchlist.", absent, (), (), writes=True), "")

    assert (written.dropped, useless.dropped) == ("", "write")
    call = trial.run(program, question).calls[-1]
    assert "GET_films_filmId_reviews" in reading_back(trial.protocol, call)


def test_any_document_can_be_asked_about(data: Path) -> None:
    """Documents of public services give questions about most of their reading tools."""
    for name in ("restbench/tmdb_oas.json", "restbench/spotify_oas.json"):
        questions = ReadQuestions(Reach(APIViews(ProtocolGraph(load(data / name))), {}))
        asked: set[str] = set()
        for number in range(300):
            tool = questions.views.reads[number % len(questions.views.reads)]
            try:
                asked.update(questions.ask(tool, Random(number)).tools)
            except NoQuestion:
                continue
        assert len(asked) >= 0.5 * len(questions.views.reads), name


def test_gold_is_read_from_all_kinds_of_task_files(tmp_path: Path) -> None:
    """Gold is compared once a tool, however often it is called; tasks of other APIs are passed over."""
    restbench, own = tmp_path / "tasks.json", tmp_path / "own.json"
    restbench.write_text(json.dumps([{"query": "x", "solution": ["GET /people", "GET /none/such"]}]))
    entries = [{"query": "y", "solution": [["GET_films", 2], ["GET_me", 1]]}, {"query": "z", "solution": ["GET /me"]}]
    own.write_text(json.dumps(entries))

    notes: list[str] = []
    gold = read_gold([restbench, own], load(CINEMA), notes.append)

    passed = "1 of 1 tasks are passed over, not all of their calls are of this API"
    assert notes == [f"{restbench}: {passed}: task 0, 'GET /none/such' is no tool of 'Cinema'"]
    assert gold(["GET_me"]) and gold(["GET_me", "GET_me"]) and gold(["GET_films", "GET_me", "GET_films"])
    assert not gold(["GET_people"]) and not gold(["GET_films"])


def test_queries_of_toolbench_are_read_as_gold(tmp_path: Path) -> None:
    """A relevant API counts, listed or not; a query without any, or about a tool of elsewhere, is passed over."""
    apis = [{"tool_name": "Tides", "api_name": name, "category_name": "Sea"} for name in ("Tide", "Depth")]
    protocol = load({"title": "Tides", "api_list": apis})
    queries = [
        {"query": "a?", "query_id": 1, "api_list": apis[:1], "relevant APIs": [["Tides", "Tide"], ["Tides", "Depth"]]},
        {"query": "b?", "query_id": 2, "api_list": apis[:1], "relevant APIs": [["Tides", "Tide"], ["Moon", "Phase"]]},
        {"query": "c?", "query_id": 3, "api_list": apis[:1], "relevant APIs": []},
    ]
    file = tmp_path / "queries.json"
    file.write_text(json.dumps(queries))

    notes: list[str] = []
    gold = read_gold([file], protocol, notes.append)

    names = [tool.name for tool in protocol.tools]
    assert (len(gold), gold(names), gold(names[:1]), gold([])) == (1, True, False, False)
    assert notes == [f"{file}: 2 of 3 tasks are passed over, not all of their calls are of this API: query 2"]


def test_a_small_api_is_asked_until_there_are_enough(tmp_path: Path) -> None:
    """One call gives all pairs of an API with a single tool; one that describes no response says so."""
    response = {"type": "object", "properties": {"id": {"type": "integer"}, "title": {"type": "string"}}}
    books = {
        "200": {"description": "", "content": {"application/json": {"schema": {"type": "array", "items": response}}}}
    }
    document = {
        "openapi": "3.0.0", "info": {"title": "Books", "version": "1"},
        "paths": {"/books": {"get": {"summary": "Search books", "parameters": [
            {"name": "query", "in": "query", "required": True, "schema": {"type": "string"}}], "responses": books}}},
    }  # fmt: skip
    api, out, empty = tmp_path / "api.json", tmp_path / "pairs.jsonl", tmp_path / "empty.json"
    api.write_text(json.dumps(document))
    document["paths"] = {"/ping": {"get": {"responses": {"204": {"description": "gone"}}}}}
    empty.write_text(json.dumps(document))
    result, nothing = (
        CliRunner().invoke(
            main,
            ["train", "data", "--from-protocol", str(file), "--count", "14", "--out", str(out)],
        )
        for file, out in ((api, out), (empty, tmp_path / "none.jsonl"))
    )

    assert result.exit_code == 0, result.output
    assert len(lines_of(out)) == 14
    assert nothing.exit_code == 2
    assert "nothing can be asked of 'Books': its document describes no response" in " ".join(nothing.stderr.split())


def test_samples_do_not_replace_something_else(tmp_path: Path) -> None:
    """Samples of tools are written anew, but not over pairs of an API."""
    out, ours = tmp_path / "pairs.jsonl", tmp_path / "samples.jsonl"
    out.write_text(json.dumps({"id": "0-000001", "question": "Which films?"}) + "\n")
    before = out.read_bytes()
    command = ["train", "data", "--from-task", "home", "--count", "4", "--out"]
    refused, first, second = (CliRunner().invoke(main, [*command, str(file)]) for file in (out, ours, ours))

    assert refused.exit_code == 2
    assert "line 1: this is no sample of `atc train data --from-task`" in " ".join(refused.stderr.split())
    assert out.read_bytes() == before
    assert (first.exit_code, second.exit_code) == (0, 0)


def test_programs_are_printed_like_the_prompts() -> None:
    """Texts are in double quotes, and a shape is blind to names and constants."""
    found_films = part(request("GET_films", {"query": constant('say "ah"')}), ["films", 0])
    program = print_program(statements("ITEM = FILM\nprint(ITEM['title'])", ITEM="film", FILM=found_films))

    assert program == 'film = GET_films(query="say \\"ah\\"")["films"][0]\nprint(film["title"])'
    assert shape(program) == shape('person = GET_people(name="x")["people"][2]\nprint(person["name"])')
    assert shape(program) != shape("print(GET_me())")


def test_a_formatted_text_is_printed_as_it_is() -> None:
    assert print_program(statements("print(f'a {film} b', 'c')")) == "print(f'a {film} b', \"c\")"


def test_words_of_questions() -> None:
    """Fields become superlatives; a form has neither names nor numbers."""
    assert superlative("release_date", "highest", Random(1)) in ("latest", "newest", "most recent")
    assert superlative("colour", "highest", Random(1)) is None
    assert [plural(noun) for noun in ("company", "person", "search")] == ["companies", "people", "searches"]
    assert form("Show 3 films of Ada Dahl", ["Ada Dahl"]) == "show … films of …"


@pytest.mark.parametrize(
    "content",
    [
        '{"id": "0-1", "tools": [["a"]], "shape": "", "form": "", "question": ""}\n',
        '{"mine": 1}',
        '{"mine": [1,',
        "notes\nof mine",
    ],
)
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: str) -> None:
    """Nothing is cut from a file that has no pairs."""
    file = tmp_path / "mine.json"
    file.write_text(content)
    result = CliRunner().invoke(main, ["train", "data", "--from-protocol", str(CINEMA), "--out", str(file)])

    assert result.exit_code == 2
    assert file.read_text() == content


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.json", b"5", "is no task file: it must be a JSON list of tasks"),
        ("t.json", b"[1, 2]", "task 0: no `solution`; --exclude takes task files"),
        ("t.json", b'[{"solution": [5]}]', "task 0: 5 in `solution` is neither a call nor"),
        ("t.json", b'[{"solution": [["GET /films"]]}]', r"task 0: \['GET /films'\] in `solution` is neither"),
        ("t.json", b"\xff\xfe\0", "cannot be read as JSON"),
        ("t.json", b"[" * 100_000, "cannot be read as JSON: maximum recursion"),
    ],
)
def test_a_file_that_holds_no_tasks_excludes_nothing(
    trial: Trial, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    """The message has the file and the task."""
    file = tmp_path / name
    file.write_bytes(content)

    with pytest.raises(UsageError, match=message) as caught:
        read_gold([file], trial.protocol, print)
    assert str(file) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--from-task", "home", "--exclude", __file__], "--exclude has no effect with --from-task"),
        (["--from-protocol", "cinema.yaml", "--pairs", "2"], "--pairs has no effect with --from-protocol"),
        (["--from-protocol", "cinema.yaml", "--profile", "nosuch"], "there is no profile 'nosuch'"),
        (["--from-task", "nosuch"], "there is no task 'nosuch'; the tasks are weather"),
    ],
)
def test_options_without_effect_are_refused(tmp_path: Path, options: list[str], message: str) -> None:
    """An exclusion that is not done would look like one."""
    result = CliRunner().invoke(main, ["train", "data", *options, "--out", str(tmp_path / "pairs.jsonl")])

    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
