"""The lines between the packages, which hold the house up, as tests."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).resolve().parent.parent
ORDER = ("protocols", "sandbox", "atc", "probing", "benchmarks")
"""Each package may import itself and those before it."""

_LAYERS = {
    "protocols": """
        errors quoting installed_from extras private_files bounded_files bounded_http bounded_bodies bounded
        settings_yaml json_path text naming media_types functions model schema_fields documents calls mcp sources
        combined gathering choice dataflow contracts documentation render simulator.demand simulator.analysis
        simulator.world simulator.http simulator samples
    """,
    "sandbox": "system records body_store body_forms language child pool provenance journal failures egress sandbox",
    "atc": """
        doors fault files answer_type models engines price_file costs query profile program diagnosis evidence
        retrieval knowledge search_tree solution solution_file events background hooks prompting help
        python_words options resume chat
        write_gate program_run question_tool session modes revise resolved solve agent
        assist programs apps.unsolved apps.tracing apps.tui apps.saved apps.page apps.server
        apps.mcp_server apps.toolset apps.cli apps __main__
    """,
    "probing": "redact schema prober document evaluation drift cli",
    "benchmarks": """
        methods worlds harness toolbench.corpus tasks run
        inspect_tasks report injection toolbench apibench services
        manipulation.environment manipulation.function_environment manipulation.curl
        manipulation.http_environment manipulation.suite manipulation.criteria
        manipulation.home manipulation.trip manipulation.weather manipulation.cat manipulation.sheets
        manipulation.virtualhome manipulation.webshop manipulation.tabletop manipulation.complexity
        manipulation learning micro data_command cli
    """,
}
LAYERS = {package: names.split() for package, names in _LAYERS.items()}
"""The folders and modules of each package: each may import itself and those before it."""

_VAGUE = """
    one told found known said seen given made shown kept left what other others some those these it them way done asked
    wanted there both each thing things such more another same once
"""
VAGUE = frozenset(_VAGUE.split())
"""Names that do not say what they hold."""
MANY_ARGUMENTS = {"Broker.__init__", "Sandbox.__init__", "Prober.__init__"}
"""Constructors whose arguments are the list of their options."""

_MANY_FIELDS = """
    ToolFinding Observations WritePermission Prober EntityType World Journal Sandbox _Execution
"""
MANY_FIELDS = frozenset(_MANY_FIELDS.split())
"""Classes with more than twelve fields: a list that may only shrink."""

_DOMAIN_WORDS = """
    album albums artist artists astro episode episodes film films forecast hottest ingredient ingredients movie movies
    nutrition playlist playlists recipe recipes season seasons singer singers song songs warmest weather wine
"""
DOMAIN_WORDS = frozenset(_DOMAIN_WORDS.split())
"""What the APIs of the benchmarks are about."""

HEAVY = (
    "torch",
    "transformers",
    "xllamacpp",
    "openai",
    "networkx",
    "rich",
    "textual",
    "RestrictedPython",
)
API_NAMES = ("tmdb", "moviedb", "spotify")

pytestmark = pytest.mark.xdist_group("architecture")  # one process parses the 500 files: 3 s


@cache
def parsed(file: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(file.read_text("utf-8"))


def modules(package: str) -> list[Path]:
    """The source files of a package, without the programs that are data."""
    return sorted(file for file in (ROOT / package).rglob("*.py") if "reference" not in file.parts)


def imported(file: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of every import in a file, also of those inside functions."""
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: write imports in full, so that their direction is seen"
            yield node.lineno, node.module or ""


def module_name(file: Path) -> str:
    """The full name of a module, `atc.assist.check` for its `__init__`."""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def layer(module: str) -> int | None:
    """The place of a module among the layers of its package; None where it has none."""
    package, _, rest = module.partition(".")
    places = [place for place in LAYERS[package] if f"{rest}.".startswith(f"{place}.")]
    return LAYERS[package].index(max(places, key=len)) if places else None


def imported_modules(file: Path, names: frozenset[str]) -> Iterator[str]:
    """The modules of ours that a file imports, wherever it does so."""
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield from [name for name in (f"{node.module}.{alias.name}", node.module) if name in names][:1]


MODULES = {module_name(file): file for package in ORDER for file in modules(package)}


@cache
def graph() -> dict[str, set[str]]:
    """The modules of ours, each with those that it imports."""
    return {name: set(imported_modules(file, frozenset(MODULES))) - {name} for name, file in MODULES.items()}


@pytest.mark.parametrize("package", ORDER)
def test_imports_go_one_way(package: str) -> None:
    """protocols <- sandbox <- atc <- probing <- benchmarks, lazy imports and imports for types included."""
    allowed = ORDER[: ORDER.index(package) + 1]
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for file in modules(package)
        for line, name in imported(file)
        if name.partition(".")[0] in ORDER and name.partition(".")[0] not in allowed
    ]

    assert not wrong


@pytest.mark.parametrize("package", ORDER)
def test_folders_import_downwards(package: str) -> None:
    """Within a package, too, imports go one way; lazy imports and imports for types included."""
    names = {name: layer(name) for name in graph() if name.startswith(f"{package}.")}
    assert [name for name, place in names.items() if place is None] == [], "modules without a layer"
    wrong = [
        f"{name} imports {other}"
        for name, place in names.items()
        for other in sorted(graph()[name])
        if other in names and (names[other] or 0) > (place or 0)
    ]

    assert wrong == []


def test_no_modules_import_one_another() -> None:
    """There is no cycle of modules; imports for types count."""
    imports = nx.DiGraph((name, other) for name, others in graph().items() for other in others)
    cycles = [component for component in nx.strongly_connected_components(imports) if len(component) > 1]

    assert [sorted(cycle) for cycle in cycles] == []


@pytest.mark.parametrize("package", ORDER)
def test_names_say_what_they_hold(package: str) -> None:
    """At most two of a hundred assigned names and arguments are vague."""
    names = [name for file in modules(package) for name in assigned(parsed(file))]

    assert sum(name in VAGUE for name in names) <= 0.02 * len(names)


def assigned(tree: ast.AST) -> Iterator[str]:
    """The names that a module assigns to, its arguments included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


@pytest.mark.parametrize("package", ORDER)
def test_modules_functions_and_signatures_are_short(package: str) -> None:
    """A module has at most 600 lines, a function 60 and 12 arguments, commands included."""
    wrong = []
    for file in modules(package):
        text = file.read_text("utf-8")
        wrong += [f"{file} has {text.count(chr(10))} lines"] * (text.count("\n") > 600)
        for name, function in functions(parsed(file)):
            lines = (function.end_lineno or 0) - function.lineno + 1
            wrong += [f"{file}: {name} has {lines} lines"] * (lines > 60)
            arguments = [argument for argument in ast.walk(function.args) if isinstance(argument, ast.arg)]
            wrong += [f"{file}: {name} has too many arguments"] * (len(arguments) > 13 and name not in MANY_ARGUMENTS)

    assert wrong == []


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """All functions, those of classes with the class before their name."""
    owners = {id(part): node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for part in node.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield (f"{owners[id(node)]}.{node.name}" if id(node) in owners else node.name), node


def test_a_class_has_few_fields() -> None:
    """At most twelve; frozen records and models of data, which are lists of what belongs together, aside."""
    many = set()
    for file in MODULES.values():
        for owner in (node for node in ast.walk(parsed(file)) if isinstance(node, ast.ClassDef)):
            is_record = any("frozen=True" in ast.unparse(part) for part in [*owner.decorator_list, *owner.keywords])
            if not is_record and "BaseModel" not in map(ast.unparse, owner.bases) and len(fields_of(owner)) > 12:
                many.add(owner.name)

    assert many == MANY_FIELDS


def fields_of(owner: ast.ClassDef) -> set[str]:
    """The annotated names of a class, and the attributes that its constructor sets."""
    names = {
        part.target.id for part in owner.body if isinstance(part, ast.AnnAssign) if isinstance(part.target, ast.Name)
    }
    makers = [part for part in owner.body if isinstance(part, ast.FunctionDef)]
    for node in (node for part in makers if part.name in ("__init__", "__post_init__") for node in ast.walk(part)):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            names.add(node.attr)
    return names


def test_class_names_are_unique() -> None:
    """One name, one meaning, in all packages; stand-ins for the library's classes in the sandbox have its names."""
    homes: dict[str, list[str]] = {}
    for name, file in MODULES.items():
        if not name.startswith(("sandbox.language.shims", "sandbox.child")):
            classes = [node.name for node in parsed(file).body if isinstance(node, ast.ClassDef)]
            for class_name in classes:
                if not class_name.startswith("_"):
                    homes.setdefault(class_name, []).append(name)

    assert {class_name: names for class_name, names in homes.items() if len(names) > 1} == {}


@pytest.mark.parametrize("package", ORDER)
def test_every_module_says_why_and_what(package: str) -> None:
    """Each module has a docstring, and each that is not empty lists its public names in `__all__`."""
    for file in modules(package):
        tree = parsed(file)
        assert ast.get_docstring(tree), f"{file} has no docstring"
        defines = any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in tree.body)
        names = {target.id for node in tree.body if isinstance(node, ast.Assign) for target in _names(node)}
        assert "__all__" in names or not defines, f"{file} has no __all__"


@pytest.mark.parametrize("package", ORDER)
def test_public_names_exist(package: str) -> None:
    """What a package lists in `__all__` can be had from it."""
    module = importlib.import_module(package)

    assert [name for name in getattr(module, "__all__", []) if not hasattr(module, name)] == []


@pytest.mark.parametrize("package", ["protocols", "sandbox", "atc"])
def test_nothing_knows_an_api_by_name(package: str) -> None:
    """No rule for a certain API is in code or prompts; comments and docstrings may tell of one."""
    texts = [(file, text) for file in modules(package) for text in _strings_and_names(file)]
    texts += [(file, file.read_text("utf-8")) for file in (ROOT / package).rglob("*.txt")]
    found = [
        f"{file.relative_to(ROOT)}: {text[:60]}" for file, text in texts for name in API_NAMES if name in text.lower()
    ]

    assert not found


def test_no_rule_names_a_thing_of_a_benchmark() -> None:
    """Neither code nor data has words of the benchmarks' domains; the simulator's and the text's lists aside."""
    packages = ("atc", "sandbox", "probing", "protocols")
    aside = tuple(str(ROOT / "protocols" / name) for name in ("simulator", "text", "samples"))
    texts = [
        (MODULES[name], text)
        for name in MODULES
        if name.startswith(packages)
        for text in _strings_and_names(MODULES[name])
    ]
    data = [file for name in packages for kind in ("*.txt", "*.yaml", "*.yml") for file in (ROOT / name).rglob(kind)]
    texts += [(file, file.read_text("utf-8")) for file in data]
    hits = [
        f"{file.relative_to(ROOT)}: {text[:60]}"
        for file, text in texts
        if not str(file).startswith(aside) and DOMAIN_WORDS.intersection(re.findall(r"[a-z]+", text.lower()))
    ]

    assert hits == []


def test_few_modules_can_open_a_connection() -> None:
    """A document is fetched, a program's calls are made (an MCP server's tools over their connection), an
    access token is fetched, a model is asked or fetched: nothing else has a client, but
    for what fetches benchmark files, a virtual API server that records from another one, and what sends the request
    of a curl line to its own server."""
    clients = {"requests", "urllib.request", "http.client", "openai", "httpx", "aiohttp", "httpx2", "mcp.client.stdio"}
    clients.add("authlib.integrations.requests_client")
    doors = {
        str(file.relative_to(ROOT))
        for package in ORDER
        for file in modules(package)
        if clients & {name for _, name in imported(file)}
    }

    ours = {"protocols/documents/web.py", "sandbox/egress/signing.py", "sandbox/egress/transport.py"}
    ours |= {
        "benchmarks/tasks/download.py",
        "benchmarks/toolbench/server/reply_sources.py",
        "benchmarks/micro/tool_calling.py",
    }
    ours |= {"benchmarks/manipulation/http_environment.py", "protocols/mcp/connection.py", "protocols/calls/oauth2.py"}
    ours |= {"protocols/bounded_http.py", "sandbox/egress/request_style.py"}
    models = [*(ROOT / "atc" / "models").iterdir(), *(ROOT / "atc" / "engines").iterdir()]
    assert doors - ours <= {str(file.relative_to(ROOT)) for file in models}


def test_importing_atc_is_light() -> None:
    """`import atc` loads no model engine, nor any library that a first use can load; a look for proxies no client."""
    heavy = (*HEAVY, "requests")
    code = f"import sys, atc, sandbox.egress.proxies; print(*[name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)

    assert done.stdout.strip() == ""


def test_help_is_light() -> None:
    """`atc --help` and the help of every command load none of them either."""
    code = (
        "import sys; from atc.apps.cli import main\n"
        "for name in ([], *([name] for name in main.list_commands(None))):\n"
        "    main.main([*name, '--help'], standalone_mode=False)\n"
        f"print('loaded:', *[name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)

    assert done.stdout.splitlines()[-1].strip() == "loaded:"


def _names(node: ast.Assign) -> list[ast.Name]:
    return [target for target in node.targets if isinstance(target, ast.Name)]


def _strings_and_names(file: Path) -> Iterator[str]:
    """Every name and string in a file but docstrings."""
    tree = parsed(file)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield node.value
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
