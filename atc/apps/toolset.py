"""An API as four typed functions, which any agent framework takes as its tools.

Frameworks read a tool from a function: its name, types and docstring. So one set of functions serves all of them, and
none needs an adapter. They take texts, block while they work, and tell an error of ours in the result, so that the
framework's model reads it and goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from atc.options import AgentArguments, takes_all
from protocols.errors import ATCError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from atc.apps.mcp_server.service import ToolService

__all__ = ["open_toolset"]


@contextmanager
@takes_all(AgentArguments)
def open_toolset(arguments: AgentArguments) -> Iterator[list[Callable[..., Any]]]:
    """The functions for an API, usable until the block ends: `Agent.as_tool()` under its name, which begins with
    `ask_`, and run_program, search_tools and describe_tool, which give plain data.

    Args:
        arguments: As Agent takes them; `writes` is "deny" unless it is "allow" or "simulate", since nobody
            can be asked.
    Raises: ATCError: The document, an argument or a credential will not do.
    """
    from atc.apps.mcp_server.service import ToolService
    from atc.resolved import check_options
    from protocols.gathering import gather

    settings = arguments.options()
    check_options(settings)
    with ToolService(gather(arguments.tools, settings.auth, settings.base_url), settings) as service:
        yield [service.agent.as_tool(), *_functions(service)]


def _functions(service: ToolService) -> list[Callable[[str], dict[str, Any]]]:
    def run_program(program: str) -> dict[str, Any]:
        """Run a program in a sandbox; it has no files and no network but the calls of the tools.

        Args:
            program: Python that calls the tools as functions, by keyword arguments, and prints what it finds.
        """
        return _result(lambda: service.run_program(program))

    def search_tools(query: str) -> dict[str, Any]:
        """Find the tools that a question needs, best first, each with its signature.

        Args:
            query: A question or a task, in plain words.
        """
        return _result(lambda: service.search_tools(query))

    def describe_tool(name: str) -> dict[str, Any]:
        """Read how a tool is called, where its identifiers come from, and what it returns.

        Args:
            name: As search_tools gives it.
        """
        return _result(lambda: service.describe_tool(name))

    return [run_program, search_tools, describe_tool]


def _result(action: Callable[[], BaseModel]) -> dict[str, Any]:
    try:
        return action().model_dump(mode="json")
    except ATCError as error:
        return {"error": str(error)}
