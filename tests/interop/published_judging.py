"""ToolBench's and StableToolBench's evaluation scripts beside `atc eval --compat`, with one scripted judge for both.

    python -m tests.interop.published_judging win-rate CHECKOUT PYTHON [PAIRS]
    python -m tests.interop.published_judging fac CHECKOUT PYTHON [ANSWERS]
    python -m tests.interop.published_judging pass-rate CHECKOUT PYTHON [ANSWERS]  (StableToolBench's)

By hand alone: no test runs the scripts, for that needs CHECKOUT, a clone of the authors' repository, and PYTHON, an
interpreter with what they import. docs/interop.md has the commands, and what came out. The scripts run unchanged. Only
the model behind `fac_eval.py` is replaced: `vllm` is a file that asks the same judge.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from atc.apps.cli import main
from atc.files import write_json
from tests.local_api import Answer, LocalAPI, Received

__all__ = ["METHODS", "MarkJudge", "answer_of", "environment", "ours", "queries", "write_methods"]

METHODS = ("reference", "candidate")
_SUBSETS = ("G1_instruction", "G1_category", "G1_tool", "G2_instruction", "G2_category", "G3_instruction")
_STATUSES = ("Solved", "Unsure", "Unsolved")
_FAC = (
    "Answer Status\nSolved\nReason\nAll of it.",
    "Unsolved: a part is missing",
    "SOLVED",
    "This is not unsolved.",
    "?",
)
_STUBS = {
    "torch": "",
    "transformers": "def pipeline(*a, **k): ...",
    "accelerate": "class Accelerator: ...",
    "vllm": """
import json, os, types, urllib.request
class SamplingParams:
    def __init__(self, **options): ...
class LLM:
    def __init__(self, **options): ...
    def chat(self, messages, params, use_tqdm):
        body = json.dumps({"model": "m", "messages": messages}).encode()
        url, head = os.environ["JUDGE"] + "/chat/completions", {"Content-Type": "application/json"}
        request = urllib.request.Request(url, body, head)
        text = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
        return [types.SimpleNamespace(outputs=[types.SimpleNamespace(text=text)])]
""",
}


def queries(total: int, seed: int = 1) -> list[dict[str, Any]]:
    """What the judge thinks of each query: a status for either answer and for the task, and the better method."""
    draw = random.Random(seed)
    return [
        {
            "statuses": [draw.choice(_STATUSES), draw.choice(_STATUSES)],
            "task": draw.choice(["Solvable", "Unsure", "Unsolvable"]),
            "better": draw.randrange(2),
            "fac": draw.choice(_FAC),
        }
        for _ in range(total)
    ]


def answer_of(number: int, method: int, text: str | None = None) -> dict[str, Any]:
    """A converted answer in the published form; its text names its method and its query."""
    final = (
        json.dumps({"return_type": "give_answer", "final_answer": f"mark-{method}-{number}."}) if text is None else text
    )
    call = {"role": "tool", "message": str({"name": "Finish", "arguments": final, "response": ""}), "next": []}
    nodes: dict[str, Any] = {"role": "system", "message": "", "next": [{"role": "user", "message": "", "next": [call]}]}
    answer = {"method": "CoT@1", "total_steps": 3, "final_answer": final, "answer_details": [nodes]}
    return {"query": f"What is query-{number}?", "available_tools": [{"name": "Finish"}], "answer": answer}


def write_methods(folder: Path, total: int, subsets: Sequence[str] = _SUBSETS) -> None:
    """Converted answers of both methods, and the ids, for each subset in turn."""
    for name in ("ids", *(f"converted/{method}" for method in METHODS)):
        (folder / name).mkdir(parents=True)
    for place, subset in enumerate(subsets):
        numbers = range(place, total, len(subsets))
        write_json(folder / "ids" / f"{subset}.json", {str(number): 0 for number in numbers})
        for index, method in enumerate(METHODS):
            answers = {str(number): answer_of(number, index) for number in numbers}
            write_json(folder / "converted" / method / f"{subset}.json", answers)


class MarkJudge:
    """The endpoint of a judge: it knows the answers by their marks, and takes no notice of their order."""

    def __init__(self, opinions: Sequence[dict[str, Any]]) -> None:
        self.opinions = opinions

    def reply(self, received: Received) -> Answer:
        """Answer a function that is asked for, or one of our templates, which ask for a last line."""
        body = json.loads(received.body)
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        functions = body.get("functions") or [tool["function"] for tool in body.get("tools", [])]
        name = functions[0]["name"] if functions else _kind(prompt)
        opinion, marks = self._opinion(prompt)
        if name == "check_task_solvable":
            key, value, word = "task_status", opinion["task"], opinion["task"]
        elif name == "select_better_answer":
            index = marks.index(opinion["better"])
            key, value, word = "index", index, ("First", "Second")[index]
        elif name == "fac":
            return _message({"content": opinion["fac"]})
        else:
            word = value = opinion["statuses"][marks[0]]
            key = "answer_status"
        if not functions:
            return _message({"content": f"As scripted.\nVerdict: {word}"})
        call = {"name": name, "arguments": json.dumps({key: value, "reason": "As scripted."})}
        return _message(
            {"content": None, "function_call": call, "tool_calls": [{"id": "1", "type": "function", "function": call}]}
        )

    def _opinion(self, prompt: str) -> tuple[dict[str, Any], list[int]]:
        marks = re.findall(r"mark-(\d)-\d+\.", prompt)
        number = int(re.findall(r"query-(\d+)", prompt)[-1])
        return self.opinions[number], list(dict.fromkeys(int(mark) for mark in marks))


def _kind(prompt: str) -> str:
    if "<second>" in prompt:
        return "select_better_answer"
    if "<functions>" in prompt:
        return "check_task_solvable"
    return "check_answer_status" if "Unsure" in prompt else "fac"


def _message(message: dict[str, Any]) -> Answer:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return Answer(
        200, {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    )


def environment(url: str, folder: Path) -> dict[str, str]:
    """What both sides need to ask the judge at `url` alone."""
    pool = folder / "pool.json"
    write_json(pool, [{"api_key": "k", "api_base": url}])
    keys = {
        "API_POOL_FILE": str(pool),
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": url,
        "OPENAI_API_BASE": url,
        "JUDGE": url,
    }
    return {**os.environ, **keys}


def ours(arguments: Sequence[object], out: Path, env: dict[str, str]) -> dict[str, Any]:
    """`atc eval … --compat --json`: its summary."""
    options = ["--judge", "openai:m", "--compat", "--json", "--workers", "4", "--out", str(out)]
    done = CliRunner().invoke(main, ["eval", *map(str, arguments), *options], env=env)
    if done.exit_code:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout))


@contextlib.contextmanager
def judged(
    opinions: Sequence[dict[str, Any]], subsets: Sequence[str] = _SUBSETS
) -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder with the answers of both methods, and what both sides need to ask the judge with these opinions."""
    with LocalAPI() as api, tempfile.TemporaryDirectory() as name:
        api.respond("POST", "/chat/completions", MarkJudge(opinions).reply)
        write_methods(Path(name), len(opinions), subsets)
        yield Path(name), environment(api.url, Path(name))


def compare_win_rate(checkout: Path, python: str, total: int) -> None:
    """Print, for the rules that decide, how many pairs end alike; where lots decide, how often the candidate wins."""
    stable = "--test_set" in (checkout / "toolbench/tooleval/eval_preference.py").read_text("utf-8")
    edition, times = ("sowr", 3) if stable else ("2", 1)  # ToolBench's script fails on a second round: KeyError round_1
    subsets = ["--test_set", *_SUBSETS] if stable else []
    opinions = queries(total)
    with judged(opinions) as (folder, env):
        for method in METHODS:
            out = folder / "rates" / (method if stable else "")
            out.mkdir(parents=True, exist_ok=True)
            options = ["--reference_model", method, "--save_path", out, *subsets]
            published(
                python, checkout, folder, env, "eval_pass_rate.py", options + ["--evaluate_times", 1] * (not stable)
            )
        preferences = folder / "preferences"
        preferences.mkdir()
        options = ["--reference_model", METHODS[0], "--output_model", METHODS[1], "--save_path", preferences]
        options += [
            "--pass_rate_result_path",
            folder / "rates",
            "--use_pass_rate",
            "true",
            "--evaluate_times",
            times,
            *subsets,
        ]
        published(python, checkout, folder, env, "eval_preference.py", options)
        equal, lots = Counter[str](), Counter[str]()
        for subset in _SUBSETS:
            paths = [folder / "converted" / method / f"{subset}.json" for method in METHODS]
            out = folder / "ours" / subset
            ours(["win-rate", *paths, "--edition", edition, "--times", times], out, env)
            name = f"{subset}_{METHODS[0]}_{METHODS[1]}.json"
            theirs, mine = (json.loads((place / name).read_text("utf-8")) for place in (preferences, out))
            for number, points in theirs.items():
                points, own = ([side[method] for method in METHODS] for side in (points, mine[number]))
                if stable or _is_certain(opinions[int(number)]):
                    equal[f"equal: {points == own}"] += 1
                else:
                    lots.update({"pairs": 1, "theirs": points[1], "ours": own[1]})
        print(edition, dict(equal), "by lot:", dict(lots))


def _is_certain(opinion: dict[str, Any]) -> bool:
    """True if no coin decides in edition 2: no Unsure label, and passed beside failed or one status for both."""
    labels = [_LABELS.get((status, opinion["task"]), "passed") for status in opinion["statuses"]]
    return "coin" not in labels and (len(set(labels)) == 2 or len(set(opinion["statuses"])) == 1)


_LABELS = {
    ("Unsolved", "Solvable"): "failed",
    ("Unsolved", "Unsure"): "coin",
    ("Unsure", "Solvable"): "coin",
    ("Unsure", "Unsure"): "coin",
}


def compare_pass_rate(checkout: Path, python: str, total: int) -> None:
    """Print how many verdicts of three rounds agree, and the two rates of each method."""
    subset = _SUBSETS[0]
    with judged(queries(total), [subset]) as (folder, env):
        for method in METHODS:
            saved = folder / method
            saved.mkdir()
            options = ["--reference_model", method, "--save_path", saved, "--evaluate_times", 3, "--test_set", subset]
            printed = published(python, checkout, folder, env, "eval_pass_rate.py", options)
            answers = folder / "converted" / method / f"{subset}.json"
            summary = ours(["pass-rate", answers, "--edition", "sopr", "--times", 3], folder / "ours" / method, env)
            file = f"{subset}_{method}.json"
            theirs, mine = (
                json.loads((place / file).read_text("utf-8")) for place in (saved, folder / "ours" / method)
            )
            rounds = [(row["is_solved"], mine[number]["is_solved"]) for number, row in theirs.items()]
            equal = sum(verdicts[key] == own[key] for verdicts, own in rounds for key in verdicts)
            rate = re.findall(r"Solve rate: (\S+)%", printed)[0]
            print("sopr,", equal, "of", 3 * total, "verdicts equal; theirs", rate, "ours", 100 * summary["rate"])


def compare_fac(checkout: Path, python: str, total: int) -> None:
    """Print how many answers are complete for both, and the two rates."""
    opinions, subset = queries(total), _SUBSETS[0]
    with judged(opinions, [subset]) as (folder, env):
        answers = folder / "converted" / METHODS[0] / f"{subset}.json"
        data = json.loads(answers.read_text("utf-8"))
        for number in range(0, total, 5):  # of each five an answer that is empty, or gives up, or is no JSON
            text = ("", '{"return_type": "give_up_and_restart"}', "mark-0 in plain words", "{broken")[number // 5 % 4]
            data[str(number)] = answer_of(number, 0, text)
        write_json(answers, data)
        for module, code in _STUBS.items():
            (folder / f"{module}.py").write_text(code, "utf-8")
        env = {**env, "PYTHONPATH": str(folder)}
        options = ["--model_path", "m", "--evaluation_path", answers, "--output_path", folder / "fac.csv"]
        command = [python, "fac_eval.py", *options, "--ids", folder / "ids" / f"{subset}.json"]
        done = _run(command, checkout / "toolbench/tooleval", env)
        rate = re.findall(r"success rate of (\S+)", done)[0]
        summary = ours(
            ["pass-rate", answers, "--edition", "fac"], folder / "ours", {**env, "PYTHONPATH": str(Path.cwd())}
        )
        print("fac, of", total, "answers: theirs", rate, "ours", summary["rate"])


def published(
    python: str, checkout: Path, folder: Path, env: dict[str, str], script: str, options: Sequence[object]
) -> str:
    """Run a script of `toolbench/tooleval` on the converted answers: what it prints."""
    common = ["--converted_answer_path", folder / "converted", "--test_ids", folder / "ids", "--max_eval_threads", 4]
    evaluator = ["--evaluator", "tooleval_gpt-3.5-turbo_default"]
    return _run([python, script, *common, *evaluator, *options], checkout / "toolbench/tooleval", env)


def _run(command: Sequence[object], folder: Path, env: dict[str, str]) -> str:
    done = subprocess.run([*map(str, command)], cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[1]} ended with {done.returncode}:\n{done.stderr[-1500:]}")
    return done.stdout


if __name__ == "__main__":
    kind, checkout, python, *more = sys.argv[1:]
    compare = {"win-rate": compare_win_rate, "fac": compare_fac, "pass-rate": compare_pass_rate}[kind]
    compare(Path(checkout).resolve(), python, int(more[0]) if more else 300)
