"""What is known of an API: its protocol, the data flow between its tools, what was observed, and solved questions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from atc.diagnosis.provenance import flows
from atc.profile import Profile
from atc.query import Query
from protocols.dataflow.graph import ProtocolGraph
from protocols.errors import UsageError
from protocols.model import Protocol
from sandbox import Run

if TYPE_CHECKING:
    from atc.retrieval.candidates import Candidates
    from atc.retrieval.demonstrations import Demonstration, Demonstrations
    from atc.retrieval.tool_index import ToolIndex
    from protocols.contracts.contract import Contract
    from protocols.contracts.store import ContractStore, ObservedEdge

__all__ = ["Knowledge"]


class Knowledge:
    """What solves share, worked out at first use.

    Args:
        store: A folder with observed responses and solved questions; nothing is kept without one.
        retriever: The folder of a tool index, which chooses the tools for a question.
    """

    def __init__(
        self,
        protocol: Protocol,
        profile: Profile,
        store: Path | None,
        retriever: str | Path | None,
    ) -> None:
        self.protocol = protocol
        self._profile = profile
        self.retriever: ToolIndex | None = None
        if retriever is not None:
            from protocols.extras import load

            load("numpy", "a tool index")
            from atc.retrieval.tool_index import ToolIndex

            self.retriever = ToolIndex(Path(retriever))
        self._store: ContractStore | None = None
        self.demonstrations: Demonstrations | None = None
        if store is not None:
            from atc.retrieval.demonstrations import Demonstrations
            from protocols.contracts.store import ContractStore

            self._store, self.demonstrations = ContractStore(store), Demonstrations(store, protocol)

    def shared(self) -> Self:
        """The same knowledge for another solve at the same time."""
        _ = self.candidates, self.vocabulary
        knowledge = copy(self)
        knowledge.__dict__.pop("contract", None)
        return knowledge

    @cached_property
    def graph(self) -> ProtocolGraph:
        """The data flow between the tools of the protocol. Raises: UsageError: The store is damaged."""
        graph = ProtocolGraph(self.protocol)
        for edge in self._store.edges(self.protocol) if self._store is not None else ():
            graph.observe(edge.tool, edge.argument, edge.source, edge.path)
        return graph

    @cached_property
    def contract(self) -> Contract:
        """What is known of the responses. Raises: UsageError: The store is damaged."""
        if self._store is not None:
            return self._store.contract(self.protocol)
        from protocols.contracts.contract import Contract

        return Contract(self.protocol)

    def contract_with(self, runs: Sequence[Run]) -> Contract:
        """The contract, and what the calls of some runs were answered: the document may be wrong about them."""
        bodies: dict[str, list[object]] = {}
        for call in (call for run in runs for call in run.calls if not call.simulated):
            good = call.tool and call.status in range(200, 300)
            if good and isinstance(call.response, dict | list):
                bodies.setdefault(call.tool or "", []).append(call.response)
        return self.contract.with_bodies(bodies)

    @cached_property
    def candidates(self) -> Candidates:
        """The search for tools that a question needs."""
        from atc.retrieval.candidates import Candidates

        return Candidates(self.graph, meaning=self._profile.meaning, retriever=self.retriever)

    @cached_property
    def vocabulary(self) -> Mapping[str, frozenset[str]]:
        """The enum values of the API's fields, by field."""
        from protocols.dataflow.enum_values import enum_values

        return enum_values(self.protocol)

    def observe(self, query: Query, run: Run) -> None:
        """Keep what a run shows, where there is a store."""
        if self._store is not None:
            calls = [call for call in run.calls if not call.replayed and not call.simulated]
            replies = [
                (call.tool, call.status, call.response) for call in calls if call.tool and call.status is not None
            ]
            self._store.record(self.protocol, replies, list(self._edges(query, run)))
            self.__dict__.pop("contract", None)

    def _edges(self, query: Query, run: Run) -> Iterator[ObservedEdge]:
        """Where the arguments of calls that were answered well came from: others are likely to find them there."""
        from protocols.contracts.store import ObservedEdge

        for flow in flows(query, run, self.graph):
            call = run.calls[flow.call]
            producer = run.calls[flow.source].tool if flow.source is not None else None
            good = call.status is not None and call.status < 300 and not call.replayed and not call.simulated
            if producer and call.tool and good:
                path = tuple(0 if isinstance(step, int) else step for step in flow.path)
                yield ObservedEdge(call.tool, flow.argument, producer, path)

    def solved_like(self, query: str, tools: Collection[str]) -> tuple[Demonstration, ...]:
        """The solved questions most like one, which call only these tools; none without a store."""
        if self.demonstrations is None:
            return ()
        return tuple(self.demonstrations.like(query, tools, meaning=self._profile.meaning))

    def keep_solved(self, query: str, program: str, run: Run) -> list[str]:
        """Keep a program that answered, for questions like this one; gives a warning if that fails."""
        tools = tuple(dict.fromkeys(call.tool for call in run.calls if call.tool))
        simulated = any(call.simulated for call in run.calls)
        if self.demonstrations is None or not self._profile.demonstrations or not tools or simulated:
            return []
        from atc.retrieval.demonstrations import Demonstration

        try:
            removed = self.demonstrations.add(Demonstration(query, program, tools))
        except UsageError as error:
            return [str(error)]
        if removed <= 1:  # one goes with each new one
            return []
        return [f"{self.demonstrations.file} keeps the newest solved questions; {removed:,} older ones were removed"]
