"""The form of the ToolLLaMA weights: functions, the system text, messages, and prompts from released files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from atc.models import Message
from atc.models.chat_format import role_prompt
from benchmarks.methods.actions import BadActionError
from benchmarks.methods.formats import toolllama
from benchmarks.methods.formats.toolllama import ToolLlamaPrompt
from protocols import load
from protocols.errors import UsageError
from protocols.model import Protocol

RECORDS: list[dict[str, Any]] = [
    {
        "category_name": "Data",
        "tool_name": "Tide Tables",
        "api_name": "High Water",
        "api_description": " Times of High Water. " + "x" * 300,
        "required_parameters": [
            {"name": "ID", "type": "STRING", "description": "y" * 300, "default": "ber"},
            {"name": "Days", "type": "NUMBER", "description": "", "default": "3"},
        ],
        "optional_parameters": [
            {"name": "metric", "type": "BOOLEAN", "description": "Metres.", "default": ""},
            {"name": "from", "type": "DATE (YYYY-MM-DD)", "description": "", "default": ""},
        ],
        "method": "GET",
    },
    {
        "category_name": "Data",
        "tool_name": "Tide Tables",
        "api_name": "harbours",
        "api_description": "",
        "required_parameters": [],
        "optional_parameters": [{"name": "page", "type": "NUMBER", "description": "", "default": "1"}],
        "method": "GET",
    },
]
NAMES = {name: name for name in ("high_water_for_tide_tables", "harbours_for_tide_tables")}
PROMPT = ToolLlamaPrompt(
    "Sys $tools|$functions", 'Of "$tool".', 'Of "$tool".It: "$text"', {"name": "Finish", "parameters": {}}
)


@pytest.fixture
def protocol() -> Protocol:
    return load({"title": "tides", "api_list": RECORDS})


def test_a_record_becomes_the_published_schema() -> None:
    """Names, types, cuts and examples are as published; optional parameters go with required ones alone."""
    schema, harbours = (toolllama.record_schema(record, PROMPT) for record in RECORDS)

    assert schema["name"] == "high_water_for_tide_tables"
    text = "Times of high_water_for_tide_tables. " + "x" * 300
    assert schema["description"] == f'Of "tide_tables".It: "{text[:256]}"'
    assert schema["parameters"] == {
        "type": "object",
        "properties": {
            "is_id": {"type": "string", "description": "y" * 256, "example_value": "ber"},
            "days": {"type": "integer", "description": "", "example_value": "3"},
            "metric": {"type": "boolean", "description": "Metres."},
            "is_from": {"type": "string", "description": ""},
        },
        "required": ["is_id", "days"],
        "optional": ["metric", "is_from"],
    }
    assert harbours == {
        "name": "harbours_for_tide_tables",
        "description": 'Of "tide_tables".',
        "parameters": {"type": "object", "properties": {}, "required": [], "optional": []},
    }


def test_tools_become_published_schemas(protocol: Protocol) -> None:
    """Under `compat` they are those of the records; without it, types are true and no parameter is left out."""
    as_published = toolllama.function_schemas(protocol, NAMES, PROMPT, compat=True)
    ours = toolllama.function_schemas(protocol, NAMES, PROMPT)

    records = [toolllama.record_schema(record, PROMPT)["parameters"] for record in RECORDS]
    assert [schema["parameters"] for schema in as_published[:-1]] == records
    assert [schema["name"] for schema in ours] == [*NAMES, "Finish"]
    assert ours[0]["parameters"]["properties"]["days"] == {"type": "number", "description": "", "example_value": 3}
    assert ours[1]["parameters"]["optional"] == ["page"]
    assert ours[1]["description"] == as_published[1]["description"] == 'Of "tide_tables".'


def test_the_conversation_is_laid_out_as_published(protocol: Protocol) -> None:
    """Roles, tools and functions in the system text, the question, and calls with their results."""
    functions = toolllama.function_schemas(protocol, NAMES, PROMPT, compat=True)
    tools = toolllama.tool_descriptions(protocol, NAMES.values())
    turns = toolllama.begin("When is it high?", functions, {**tools, "other": f"a\nb{'c' * 600}"}, PROMPT)
    turns += [
        Message("assistant", toolllama.write_message("first", "harbours_for_tide_tables", "{}")),
        Message("tool", '{"error": "", "response": []}', name="harbours_for_tide_tables"),
    ]

    assert list(tools) == ["tide_tables"]
    assert role_prompt(turns) == (
        f"System: Sys 1.tide_tables: None\n2.other: ab{'c' * 509}\n|{functions}\n"
        "User: \nWhen is it high?\nBegin!\n\n"
        "Assistant: \nThought: first\nAction: harbours_for_tide_tables\nAction Input: {}\n"
        'Function: {"error": "", "response": []}\n'
        "Assistant: \n"
    )


def test_our_own_prompt_says_the_form(protocol: Protocol) -> None:
    """Without a released file the sentences are ours, and what is written in this form is read."""
    functions = toolllama.function_schemas(protocol, NAMES)
    system = toolllama.begin("q", functions, {})[0].content

    assert all(f"\n{mark}: " in system for mark in ("Thought", "Action", "Action Input"))
    assert str(functions) in system
    assert "$" not in system
    read = toolllama.read_message(toolllama.write_message("t", "f", '{"a": 1}'))
    assert (read.thought, read.name, read.arguments, read.text) == ("t", "f", {"a": 1}, '{"a": 1}')


@pytest.mark.parametrize(
    ("text", "thought", "arguments"),
    [
        ("\nThought: \nAction: f\nAction Input: {}", "", {}),
        ("Thought: a\nb\nAction: f\nAction Input: {}</s>", "a\nb", {}),
        ('Thought: a\nAction:f\nAction Input:\n{\n "x": "1\nUser: 2"\n}\nFunction: 3', "a", {"x": "1\nUser: 2"}),
        ("Thought: a\nAction: f\nAction Input: {}\nThought: b\nAction: g\nAction Input: {}", "a", {}),
    ],
)
def test_messages_that_are_read(text: str, thought: str, arguments: Mapping[str, object]) -> None:
    """Line breaks inside, an end mark, and turns that the model made up after its call do no harm."""
    message = toolllama.read_message(text)

    assert (message.thought, message.name, message.arguments) == (thought, "f", arguments)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The tide is high.", "it has no `Thought:` and no `Action:` and no `Action Input:`"),
        ("Thought: a", "it has no `Action:` and no `Action Input:`"),
        ("Thought: a\nAction: f", "it has no `Action Input:`"),
        ("Thought: a\nAction Input: {}", "it has no `Action:`"),
        ("Action: f\nAction Input: {}", "it has no `Thought:`"),
        ("Thought: a\nAction Input: {}\nAction: f", "not in the order"),
        ("Thought: a\nAction:\nAction Input: {}", "the name of one function"),
        ("Thought: a\nAction: f or g\nAction Input: {}", "the name of one function"),
        ("Thought: a\nAction: f\nAction Input:", "is empty"),
        ("Thought: a\nAction: f\nAction Input: {'b': 1}", "is no JSON"),
        ('Thought: a\nAction: f\nAction Input: {"b": "', "is no JSON"),
        ("Thought: a\nAction: f\nAction Input: [1]", "is no JSON object"),
        ("Thought: a\nAction: f\nAction Input: {}}", "text follows"),
        ("Thought: a\nAction: f\nAction Input: " + "[" * 100_000, "is no JSON"),
    ],
)
def test_messages_that_are_refused(text: str, why: str) -> None:
    """The reason names the part that is missing or cannot be read."""
    with pytest.raises(BadActionError, match=why):
        toolllama.read_message(text)


# Prompts of released files

SYSTEM = """You work.
With each function call for the next step. Price: 5 $.
Rules:
1.End it.
These tools:
1.tide_tables: Tides.
2.moon: None
"""
FINISH = {"name": "Finish", "description": 'Stop "it".', "parameters": {"type": "object", "properties": {}}}


def published(bare: bool = False) -> list[dict[str, Any]]:
    functions = [{"name": "a_for_tide_tables", "description": 'Part of "tide_tables", yes.It does: "a "b""'}]
    if bare:
        functions.append({"name": "b_for_tide_tables", "description": 'Part of "tide_tables", yes.'})
    return [*functions, FINISH]


def answer_file(functions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    messages = [[{"role": "system", "content": SYSTEM}, {"role": "user", "content": "q"}]]
    return {"tree": {}, "answer_generation": {"train_messages": messages, "function": functions}}


def training_data() -> list[dict[str, Any]]:
    system = SYSTEM.replace("step.", "step. So:\nThought:") + f"\nYou have: {published(bare=True)}"
    return [{"id": "Step 2: q", "conversations": [{"from": "system", "value": system}, {"from": "user", "value": "q"}]}]


@pytest.mark.parametrize(
    "functions", [published(), published(bare=True), [{"type": "function", "function": entry} for entry in published()]]
)
def test_the_prompt_of_an_answer_file(tmp_path: Path, functions: list[dict[str, Any]]) -> None:
    """Its sentences are taken over, its tools and functions are not; the form of a call is added in ours."""
    file = tmp_path / "answer.json"
    file.write_text(json.dumps(answer_file(functions)))

    prompt = toolllama.published_prompt(file)

    system = toolllama.system_text(prompt, [{"name": "f"}], {"rain": "Rain."})
    assert system.startswith("You work.\nWith each function call for the next step.")
    assert f"for the next step.{prompt_hint()} Price: 5 $.\n" in system
    assert "1.End it.\nThese tools:\n1.rain: Rain.\n" in system
    assert system.endswith("[{'name': 'f'}]")
    assert "tide" not in system
    assert (prompt.bare, prompt.finish) == ('Part of "$tool", yes.', FINISH)
    assert prompt.described == 'Part of "$tool", yes.It does: "$text"'


def test_the_prompt_of_the_training_data(tmp_path: Path) -> None:
    """All of it is theirs, the sentences about the form and the functions included."""
    file = tmp_path / "train.json"
    file.write_text(json.dumps(training_data()))

    prompt = toolllama.published_prompt(file)

    assert (
        toolllama.system_text(prompt, published(bare=True), {"tide_tables": "Tides.", "moon": ""})
        == (training_data()[0]["conversations"][0]["value"])
    )
    assert (prompt.bare, prompt.finish) == ('Part of "$tool", yes.', FINISH)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "holds no published prompt"),
        ('{"answer_generation": {"valid_data": false, "function": []}}', "holds no published prompt"),
        (json.dumps(answer_file([FINISH])), "names its tool"),
        (json.dumps(answer_file(published()[:1])), "have no Finish"),
        (json.dumps(answer_file(published())).replace("1.", "-"), "lists no tools"),
        (json.dumps(training_data()).replace("You have: [", "You have: [{'a': ]"), "cannot be read"),
    ],
)
def test_files_without_a_prompt(tmp_path: Path, content: str, why: str) -> None:
    """The message names the file and what is missing."""
    file = tmp_path / "file.json"
    file.write_text(content)
    with pytest.raises(UsageError, match=why) as caught:
        toolllama.published_prompt(file)
    assert str(file) in str(caught.value)
    with pytest.raises(UsageError, match="cannot be read"):
        toolllama.published_prompt(tmp_path / "missing.json")


def shared_answers(data: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for file in sorted(data.glob("*toolbench/data_example/answer/**/*.json")):
        generation = json.loads(file.read_text("utf-8"))["answer_generation"]
        if generation.get("train_messages"):
            yield file, generation


def test_shared_answers_are_reproduced(data: Path) -> None:
    """From a released answer come its own system text and, of the records of its query, its own functions."""
    queries = json.loads((data / "stabletoolbench/G1_instruction.json").read_text("utf-8"))
    records = {str(query["query_id"]): query["api_list"] for query in queries}
    compared = 0
    for file, generation in shared_answers(data):
        prompt = toolllama.published_prompt(file)
        system = generation["train_messages"][0][0]["content"]
        head, _, listed = system.rpartition("\n1.")
        tools = dict(line.partition(".")[2].split(": ", 1) for line in f"1.{listed}".splitlines())
        ours = toolllama.system_text(prompt, [], tools)
        assert ours.replace(prompt_hint(), "").startswith(f"{head}\n1.{listed}")
        if "stabletoolbench" in str(file):
            functions = [entry.get("function", entry) for entry in generation["function"]]
            schemas = [toolllama.record_schema(record, prompt) for record in records[file.stem.partition("_")[0]]]
            assert [*schemas, prompt.finish] == functions
            compared += len(functions)
    assert compared == 41


def prompt_hint() -> str:
    return (Path(toolllama.__file__).parent / "toolllama_hint.txt").read_text("utf-8").rstrip("\n")
