"""No function of a shim reads or sets an attribute by a name that the program gave, but through the guard.

A program walks every callable of every module that it may import, calls it with made-up names and with objects that
note which of their attributes are touched, and prints what was touched past the guard.
"""

from __future__ import annotations

import pytest

from sandbox import Limits, Sandbox
from sandbox.language.shims.catalogue import MODULES

_WALK = '''
import {module} as module
from dataclasses import dataclass

NAME = "__canary__"
touched = []
where = ""

class Canary:
    """Notes what is asked of it under the name that no program may use."""
    def __getattribute__(self, name):
        if name == NAME:
            touched.append(where)
        return object.__getattribute__(self, name)
    def __setattr__(self, name, value):
        if name == NAME:
            touched.append(where)
    def __delattr__(self, name):
        if name == NAME:
            touched.append(where)

class Named(str):
    pass

class Mapped(dict):
    pass

def arguments():
    canary = Canary()
    for name in (NAME, Named(NAME)):
        yield (canary, name), {{}}
        yield (name, canary), {{}}
        yield (canary, name, 1), {{}}
        yield (canary, [name]), {{}}
        yield ([name], [canary]), {{}}
        yield (canary, Mapped({{name: 1}})), {{}}
        yield ({{name: canary}},), {{}}
        yield ([(name, canary)],), {{}}
        yield ("{{0." + NAME + "}}", canary), {{}}
        yield (canary,), {{NAME: 1}}
        yield (name,), {{}}
        yield (name, name), {{}}
        yield (name, [(name, canary)]), {{}}
    yield (canary,), {{}}

def walked(value, path, depth):
    global where
    if not callable(value) or path.rpartition(".")[2] in {leave}:
        return
    for given, named in arguments():
        where = path
        try:
            made = value(*given, **named)
        except (Exception, SystemExit):
            continue
        if callable(made) and not isinstance(made, type):
            for again in ((Canary(),), (Canary(), NAME), (NAME,)):
                try:
                    made(*again)
                except (Exception, SystemExit):
                    pass
        if depth < 1:
            for part in dir(made):
                if not part.startswith("_"):
                    try:
                        method = getattr(made, part)
                    except Exception:
                        continue
                    walked(method, path + "()." + part, depth + 1)
    if isinstance(value, type) and depth < 1:
        for part in dir(value):
            if not part.startswith("_"):
                try:
                    method = getattr(value, part)
                except AttributeError:
                    continue
                walked(method, path + "." + part, depth + 1)

count = 0
for part in dir(module):
    if not part.startswith("_"):
        count += 1
        walked(getattr(module, part), "{module}." + part, 0)
print(count > 0, sorted(set(touched)))
'''

_LEAVE = {"exit", "sleep", "setrecursionlimit", "input", "count", "cycle", "repeat"}
"""What ends or outlasts the walk."""


@pytest.mark.parametrize("module", sorted(MODULES - {"__future__"}))
def test_no_shim_takes_a_name_past_the_guard(module: str) -> None:
    run = Sandbox(None, limits=Limits(wall=60, cpu=60, memory=1024)).run(
        _WALK.format(module=module, leave=sorted(_LEAVE))
    )

    assert run.outcome == "ok", run.error
    assert run.stdout.splitlines()[-1] == "True []", run.stdout[-2000:]


def test_xml_reads_and_writes_no_files() -> None:
    """Whatever opens a file by its name is told what to do instead."""
    calls = ('ET.ElementTree(ET.Element("a")).write("a.xml")', 'ET.parse("/etc/passwd")', 'ET.ElementTree(file="/x")')
    for call in calls:
        run = Sandbox(None).run(f"import xml.etree.ElementTree as ET\n{call}")

        assert run.error is not None
        assert run.error.message == "there are no files; use fromstring(text) and tostring(element)", call
