"""A saved program as a script of its own: its calls become requests, as the document says.

The script imports requests and nothing of ours, and takes credentials from the environment. It has no sandbox, no
limits and no journal around it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Template

from atc.apps.saved.plain_python import check_plain
from atc.apps.saved.saved_program import SavedProgram
from atc.apps.tui.text import visible
from atc.program.source import calls_of
from atc.program.tree import full_name, nodes_of
from protocols.calls.binding import takes_null
from protocols.documents.schemas import object_properties
from protocols.errors import UsageError
from protocols.model import SEPARATORS, Parameter, Protocol, SecurityScheme, Tool

__all__ = ["standalone_script"]

_VARIABLE = re.compile(r"\{([^{}]*)\}")
_FORM = "application/x-www-form-urlencoded"


@cache
def _template() -> Template:
    return Template(Path(__file__).with_name("standalone.txt").read_text("utf-8"))


def standalone_script(saved: SavedProgram, protocol: Protocol, name: str) -> str:
    """The text of the script, which is to have this name. Raises: UsageError: A call has no form as a plain request."""
    function = ast.parse(saved.source)
    tools = [protocol.tool(tool) for tool in saved.contracts]
    schemes = {scheme.name: scheme for scheme in protocol.security_schemes}
    if any(full_name(node).startswith("requests.") for node in nodes_of(function, ast.expr)):
        raise UsageError("the program sends requests itself; --standalone writes only calls of the API's tools")
    if any(node.attr == "headers" for node in nodes_of(function, ast.Attribute)):
        raise UsageError("--standalone writes functions that give bodies alone, and the program reads `.headers`")
    other = next((tool for tool in tools if tool.success is not None and tool.success.kind in ("bytes", "lines")), None)
    if other is not None:
        raise UsageError(f"--standalone reads JSON and texts, and {other.name} gives neither")
    check_plain(saved.source, {*saved.contracts, "ToolError"})
    used = {name: schemes[name] for tool in tools for name in _security(tool, schemes)}
    variables = {scheme: _variable(protocol, scheme) for scheme in used}
    example = " ".join([*(f"{variable}=…" for variable in variables.values()), "python", name])
    about = (
        f"{protocol.title}: {visible(saved.question)}\n\nMade by `atc save --standalone` on {saved.date}; it needs "
        f"requests, and runs without a sandbox:\n\n    {example} --help\n"
    )
    return _template().substitute(
        about=ast.unparse(ast.Module([ast.Expr(ast.Constant(about))], [])),
        base_url=_base_url(protocol, tools),
        auth=repr({name: _place(scheme, variables[name]) for name, scheme in used.items()}),
        tools="\n\n\n".join(_function(tool, _security(tool, schemes)) for tool in tools),
        function=_with_argument_names(function, {tool.name: tool for tool in tools}),
        description=repr(visible(saved.question).replace("%", "%%")),
        arguments="\n".join(_arguments(saved)),
        name=saved.function,
    )


def _base_url(protocol: Protocol, tools: Collection[Tool]) -> str:
    """The expression for the base URL. Raises: UsageError: The tools are not all operations of one server."""
    if protocol.namespaces:
        raise UsageError("--standalone writes calls of one API, and the program has several")
    special = next((tool for tool in tools if tool.function is not None or tool.envelope is not None), None)
    if special is not None:
        raise UsageError(f"--standalone writes plain requests, and {special.name} is none")
    urls = {(tool.servers or protocol.servers)[0].url if tool.servers or protocol.servers else "" for tool in tools}
    if len(urls) > 1:
        raise UsageError(f"--standalone writes calls of one server, and the tools have {len(urls)}")
    variable, url = f"{_slug(protocol.title)}_URL", urls.pop()
    is_absolute = url.startswith(("http://", "https://"))
    return f"os.environ.get({variable!r}, {url!r})" if is_absolute else f"os.environ[{variable!r}]"


def _security(tool: Tool, schemes: Mapping[str, SecurityScheme]) -> tuple[str, ...]:
    """The schemes of a tool's first alternative; none where one of the alternatives is to have no credential."""
    alternatives = [names for names in tool.security if all(name in schemes for name in names)]
    return alternatives[0] if alternatives and () not in tool.security else ()


def _slug(text: str) -> str:
    return re.sub(r"[^A-Z0-9]+", "_", text.upper()).strip("_") or "API"


def _variable(protocol: Protocol, scheme: str) -> str:
    variable = f"{_slug(protocol.title)}_{_slug(scheme)}"
    return variable if variable[0].isalpha() else f"API_{variable}"


def _place(scheme: SecurityScheme, variable: str) -> tuple[str, str, str, str]:
    kind = "bearer" if scheme.kind == "oauth2" else scheme.kind
    return kind, scheme.location, scheme.parameter, variable


def _function(tool: Tool, auth: tuple[str, ...]) -> str:
    """A function of the script that makes the calls of a tool. Raises: UsageError."""
    # `body=` may pass the whole body, so that none of its fields has to be there.
    may_be_whole = tool.body is not None and tool.argument("body") is None
    names = [
        p.argument if p.required and not (may_be_whole and p.location == "body") else f"{p.argument}={_default(p)}"
        for p in tool.arguments
    ]
    names += ["body=None"] if may_be_whole else []
    summary = (tool.summary or tool.description).strip().partition("\n")[0] or f"{tool.method} {tool.path}"
    parts = [repr(tool.name), repr(tool.method), _path(tool)]
    for location, keyword, helper in (
        ("query", "query", "_query"),
        ("header", "headers", "_joined"),
        ("cookie", "cookies", "_joined"),
    ):
        values = [f"*{helper}({_value(tool, p)})" for p in tool.parameters if p.location == location]
        parts += [f"{keyword}=[{', '.join(values)}]"] if values else []
    parts += [f"auth={auth!r}"] if auth else []
    parts += _body(tool)
    docstring = ast.unparse(ast.Module([ast.Expr(ast.Constant(visible(summary)))], []))
    listed = "".join(f"\n        {part}," for part in parts)
    return f"def {tool.name}({', '.join(names)}):\n    {docstring}\n    return _call({listed}\n    )"


def _default(parameter: Parameter) -> str:
    """The default of an argument: `...` where None stands for null."""
    return "..." if _may_be_null(parameter) else "None"


def _may_be_null(parameter: Parameter) -> bool:
    return parameter.location == "body" and takes_null(parameter)


def _path(tool: Tool) -> str:
    """The expression for the path of a call."""
    by_name = {parameter.name: parameter for parameter in tool.parameters if parameter.location == "path"}
    pieces = []
    for place, piece in enumerate(_VARIABLE.split(tool.path)):
        if place % 2 == 0:
            pieces.append(repr(piece))
            continue
        if by_name[piece].style != "simple":
            raise UsageError(f"--standalone cannot write a path of the style {by_name[piece].style!r} ({tool.name})")
        safe = ", safe='/'" if by_name[piece].reserved else ""
        pieces.append(f"_segment({by_name[piece].argument}{safe})")
    return " + ".join(piece for piece in pieces if piece != "''") or "''"


def _value(tool: Tool, parameter: Parameter) -> str:
    """The arguments of a helper that writes a parameter: its name on the wire, its value, and its style."""
    constant = tool.argument(parameter.argument) is None  # a constant of the document
    value = repr(parameter.schema.get("const")) if constant else parameter.argument
    value += " or str(uuid.uuid4())" * (parameter.is_idempotency_key and not constant)
    arguments = f"{parameter.name!r}, {value}"
    if parameter.location != "query":
        if parameter.style != "simple" and parameter.style != "form":
            raise UsageError(f"--standalone cannot write a header of the style {parameter.style!r} ({tool.name})")
        return arguments
    arguments += f", style={parameter.style!r}" if parameter.style in ("json", "deepObject") else ""
    arguments += "" if parameter.explode else ", explode=False"
    separator = SEPARATORS.get(parameter.style)
    return arguments + (f", separator={separator!r}" if separator is not None else "")


def _body(tool: Tool) -> Iterator[str]:
    """The arguments of a call that send its body. Raises: UsageError: It has no form as JSON, nor as a form."""
    if tool.body is None:
        return
    kind = tool.body.media_type.partition(";")[0].strip().lower()
    is_json = kind == "application/json" or kind.endswith("+json")
    if not is_json and (kind != _FORM or tool.body.encoding):
        raise UsageError(f"--standalone sends JSON and forms, and {tool.name} takes {kind}")
    fields = [p for p in tool.arguments if p.location == "body"]
    properties, _ = object_properties(tool.body.schema)
    if (stray := next((p.name for p in fields if p.name and p.name not in properties), None)) is not None:
        raise UsageError(f"--standalone writes one media type, and {tool.name} has {stray} in another one")
    whole = next((p.argument for p in fields if not p.name), None)
    if whole is not None:
        content = whole
    else:
        by_name = {p.name: p.argument for p in tool.arguments if p.location != "body"}
        required = tool.body.schema.get("required")
        shared = {name for name in (required if isinstance(required, list) else ()) if name in by_name}
        entries = [f"{p.name!r}: {_entry(p, by_name[p.name] if p.name in shared else '...')}" for p in fields]
        passed = ", body" if tool.argument("body") is None else ""
        content = f"_passed({{{', '.join(entries)}}}{passed})" + (" or {}" if tool.body.required else "")
    yield f"{'json' if is_json else 'form'}={content}"
    yield f"media_type={tool.body.media_type!r}"


def _entry(parameter: Parameter, otherwise: str) -> str:
    """The expression for a field of a body; `otherwise` is what stands for it where it was not passed."""
    absent = "..." if _may_be_null(parameter) else "None"
    if absent == otherwise:
        return parameter.argument
    return f"{otherwise} if {parameter.argument} is {absent} else {parameter.argument}"


def _with_argument_names(module: ast.Module, tools: Mapping[str, Tool]) -> str:
    """The program's function, whose calls have the arguments' names where they have those of the wire."""
    for call, name in calls_of(module, tools):
        tool = tools[name]
        by_wire = {parameter.name: parameter.argument for parameter in reversed(tool.arguments) if parameter.name}
        fixed = {parameter.argument for parameter in tool.parameters if tool.argument(parameter.argument) is None}
        call.keywords = [word for word in call.keywords if word.arg not in fixed]
        for word in call.keywords:
            if word.arg is not None and tool.argument(word.arg) is None:
                word.arg = by_wire.get(word.arg, word.arg)
    return ast.unparse(module)


def _arguments(saved: SavedProgram) -> Iterator[str]:
    """The options of the script, a line each."""
    for parameter in saved.parameters:
        flags = repr(f"--{parameter.name.replace('_', '-')}")
        described = visible(f"{parameter.description} [default: {parameter.default}]".strip()).replace("%", "%%")
        choices = f", choices={parameter.choices!r}" if parameter.choices else ""
        settings = f"type={parameter.type}, default={parameter.default!r}{choices}, help={described!r}"
        yield f"    parser.add_argument({flags}, {settings})"
