"""The documented APIs: those of tool files in folders of categories, and those that query files list.

A release has thousands of tool files, so only their places are read at the start. Query files are read whole. What
both document is one tool.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.toolbench.server.address import APIAddress
from protocols.documents.tool_records import category_folder, parameter_name, standard_name
from protocols.errors import UsageError

__all__ = ["Catalogue", "CataloguedTool", "default_sources"]

_TOOLS = "tools"
"""The name of the folder that holds the folders of categories."""

_DEPTH = 2
"""Folders below a named one in which a tool file may be, where no folder has the name above."""

Key = tuple[str, str]


@dataclass(slots=True)
class CataloguedTool:
    """A tool: folder of its category, standard name, and records of its APIs by published name, the first of each."""

    category: str
    name: str
    title: str
    description: str = ""
    records: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def add(self, record: object) -> None:
        """Add a record; one that is there already gets only its missing template."""
        if not isinstance(record, Mapping):
            return
        published = parameter_name(str(record.get("api_name") or record.get("name") or ""))
        known = self.records.get(published)
        if known is None and published:
            self.records[published] = record
        elif known is not None and known.get("template_response") is None and record.get("template_response"):
            self.records[published] = {**known, "template_response": record["template_response"]}


def default_sources(option: str = "with --data") -> list[Path]:
    """The shared releases under `ATC_DATA`. Raises: UsageError: There are none.

    Args:
        option: How a command takes sources, for the message.
    """
    root = os.environ.get("ATC_DATA")
    sources = [Path(root) / name for name in ("toolbench", "stabletoolbench")] if root else []
    present = [source for source in sources if source.is_dir()]
    if not present:
        where = f"there is no toolbench or stabletoolbench in {root}" if root else "ATC_DATA is not set"
        raise UsageError(f"name the tools {option} (a folder toolenv/tools, or query files); {where}")
    return present


class Catalogue:
    """The tools of some folders and files; what cannot be read is in `warnings`.

    `tool(category, name)` is the tool of that category and standard name, None if there is none.

    Args:
        sources: An unpacked release, its folder of tools, or query files (`api_list`).
    Raises: UsageError: A source does not exist, or there is no tool in any of them.
    """

    def __init__(self, sources: Sequence[Path]) -> None:
        self.warnings: list[str] = []
        self._files: dict[Key, Path] = {}
        self._listed: dict[Key, CataloguedTool] = {}
        for source in sources:
            if not source.exists():
                raise UsageError(f"there is no file or folder {source}; name a folder of tools, or query files")
            for file in [source] if source.is_file() else self._candidates(source):
                self._read_file(file)
        if not self._files and not self._listed:
            shown = ", ".join(map(str, sources))
            raise UsageError(f"{shown}: neither tool files (CATEGORY/TOOL.json) nor query files (api_list) in it")
        self.tool = lru_cache(maxsize=512)(self._load_tool)

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def _keys(self) -> set[Key]:
        return self._files.keys() | self._listed.keys()

    def addresses(self) -> Iterator[APIAddress]:
        """Every API, tool by tool in alphabetical order; each tool file is read on the way."""
        for category, name in sorted(self._keys):
            tool = self._load_tool(category, name)
            yield from (APIAddress(category, name, api) for api in (tool.records if tool is not None else ()))

    def unknown(self, address: APIAddress) -> str:
        """What to say about an API that is not documented: the nearest names; empty if it is documented."""
        tool = self.tool(address.category, address.tool)
        if tool is not None:
            if address.api in tool.records:
                return ""
            near = difflib.get_close_matches(address.api, tool.records, 1, 0.0)
            end = f"; the nearest is `{near[0]}`" if near else "; it has none"
            return f"there is no API `{address.api}` of the tool `{address.tool}`{end}"
        keys = self._keys - {(address.category, address.tool)}  # its file is unreadable
        elsewhere = sorted(category for category, name in keys if name == address.tool)
        categories = {category for category, _ in self._keys}
        if elsewhere:
            return f"the tool `{address.tool}` is not in the category `{address.category}` but in `{elsewhere[0]}`"
        if address.category not in categories:
            near = difflib.get_close_matches(address.category, categories, 1, 0.0)
            return f"there is no category `{address.category}`; the nearest is `{near[0]}`"
        tools = [name for category, name in keys if category == address.category]
        near = difflib.get_close_matches(address.tool, tools, 1, 0.0)
        end = f"; the nearest is `{near[0]}`" if near else ""
        return f"there is no tool `{address.tool}` in the category `{address.category}`{end}"

    # Reading

    def _candidates(self, root: Path) -> Iterator[Path]:
        """The JSON files that may hold tools or queries; tool files in a release are only noted."""
        for folder, folders, files in os.walk(root):
            path = Path(folder)
            if path.name == _TOOLS:
                for category in sorted(folders):
                    for file in sorted((path / category).glob("*.json")):
                        self._files[category, file.stem] = file
                folders.clear()
                continue
            folders.sort()
            depth = len(path.relative_to(root).parts)
            for name in sorted(files):
                if name.endswith(".json") and (depth <= _DEPTH or _begins_with(path / name, b"[")):
                    yield path / name

    def _read_file(self, file: Path) -> None:
        """Take the records of a query file, or note a tool file; other files are passed over."""
        content = self._json(file)
        if isinstance(content, Mapping) and isinstance(content.get("api_list"), list) and "query" not in content:
            self._files[category_folder(file.parent.name), standard_name(file.stem)] = file
            return
        for query in content if isinstance(content, list) else ():
            listed = query.get("api_list") if isinstance(query, Mapping) else None
            for record in listed if isinstance(listed, list) else ():
                if isinstance(record, Mapping) and record.get("category_name") and record.get("tool_name"):
                    self._listed_tool(record).add(record)

    def _listed_tool(self, record: Mapping[str, Any]) -> CataloguedTool:
        title = str(record["tool_name"])
        key = category_folder(str(record["category_name"])), standard_name(title)
        if key not in self._listed:
            self._listed[key] = CataloguedTool(*key, title)
        return self._listed[key]

    def _load_tool(self, category: str, name: str) -> CataloguedTool | None:
        file, listed = self._files.get((category, name)), self._listed.get((category, name))
        content = self._json(file) if file is not None else None
        if not isinstance(content, Mapping):
            return listed
        title = str(content.get("tool_name") or content.get("title") or name)
        tool = CataloguedTool(category, name, title, str(content.get("tool_description") or ""))
        records = content.get("api_list")
        for record in [*(records if isinstance(records, list) else ()), *(listed.records.values() if listed else ())]:
            tool.add(record)
        return tool

    def _json(self, file: Path) -> object:
        try:
            return json.loads(file.read_bytes())
        except OSError as error:
            problem = error.strerror or str(error)
        except (ValueError, RecursionError) as error:
            problem = f"no JSON: {error}"
        text = f"{file} is passed over: {problem}"
        if text not in self.warnings:
            self.warnings.append(text)
        return None


def _begins_with(file: Path, sign: bytes) -> bool:
    with file.open("rb") as opened:
        return opened.read(64).lstrip()[:1] == sign
