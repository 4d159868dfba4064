"""The modules that a program may import, by name only: the policy reads this in the parent, the shims in the child.

A module is listed when it computes. What reads files, starts processes, opens sockets, looks into the interpreter or
evaluates text stays out, and so do single functions of listed modules that would do so (`EXCLUDED_NAMES`).
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

__all__ = ["EXCLUDED_NAMES", "MODULES", "PACKAGES", "SUGGESTIONS"]

MODULES = frozenset(
    """
    __future__ abc base64 bisect calendar collections collections.abc concurrent.futures contextlib copy csv
    dataclasses datetime decimal enum fractions functools hashlib heapq html io itertools json json.decoder
    math operator pprint random re requests requests.adapters requests.auth requests.exceptions requests.utils
    statistics string sys textwrap time typing urllib.parse uuid xml.etree.ElementTree zoneinfo
    """.split()
)

PACKAGES = frozenset(name.rpartition(".")[0] for name in MODULES if "." in name)
"""Packages of listed modules, which bring these along when imported, whether or not they are listed themselves."""

EXCLUDED_NAMES = {
    "base64": {"main", "test", "encode", "decode"},  # these two work on files
    "collections": {"UserDict", "UserList", "UserString"},  # methods of theirs format and set by name
    "contextlib": {"chdir", "redirect_stderr", "redirect_stdout"},  # the name of the stream is an attribute
    "dataclasses": {"make_dataclass"},  # builds classes from text
    "enum": {"EnumMeta", "EnumType"}  # make classes from a namespace
    | {"global_enum", "global_enum_repr", "global_flag_repr", "global_str"},  # write into sys.modules
    "functools": {"singledispatch", "singledispatchmethod"},  # evaluate annotations
    "hashlib": {"file_digest"},
    "random": {"SystemRandom"},
    "string": {"Formatter"},  # reads attributes that a format string names
    "typing": {"ForwardRef", "get_type_hints", "evaluate_forward_ref"},  # evaluate annotations
    "uuid": {"getnode", "uuid1", "main"},  # ask the machine for its address
    "zoneinfo": {"reset_tzpath", "TZPATH"},
    "time": {"clock_settime", "clock_settime_ns", "tzset", "pthread_getcpuclockid"},
}
"""Public names of a listed module that a program does not get."""

SUGGESTIONS = {
    **dict.fromkeys("aiohttp http httpx socket urllib3".split(), "call the tools as functions, or import requests"),
    "asyncio": "use plain functions, and ThreadPoolExecutor for calls side by side",
    "bs4": "use re or json on the text of the reply",
    **dict.fromkeys(("defusedxml", "lxml", "xml", "xmltodict"), "import xml.etree.ElementTree as ET"),
    "builtins": "builtins are there without an import",
    "dateutil": "use datetime.fromisoformat or datetime.strptime",
    "dotenv": "credentials are filled in for you; leave them out",
    "importlib": "write an import statement",
    "inspect": "it leads into the interpreter",
    "logging": "use print, or print(text, file=sys.stderr)",
    "numpy": "use math, statistics and lists",
    "os": "there are no files and no environment; credentials are filled in for you, so leave them out",
    "pandas": "use lists, dicts and statistics",
    "pathlib": "there are no files; print the result",
    "pickle": "use json",
    "pytz": "use zoneinfo",
    "subprocess": "no other program can be started; do it in Python",
    "threading": "use concurrent.futures.ThreadPoolExecutor",
    "traceback": "use str(error) and type(error).__name__",
    "types": "use classes and dataclasses",
    "urllib": "call the tools as functions, or import requests; urllib.parse is there",
}
"""Suggestions for modules that are not listed."""
