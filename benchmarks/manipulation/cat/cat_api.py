"""The Cat API as an environment: six functions, 100 tests, 12 demonstrations.

The account starts anew before each test and before its label, so that removals are executed, too. A reply to a new
favourite does not say which picture it has; hence the account is compared as well. The released evaluator compares
removals as text and no account; `compat` does the same.

Source: Xu et al. (arXiv:2305.16504), appendix A.2.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

from benchmarks.manipulation.cat.cat_service import FOLDER, CatService, first_favourites
from benchmarks.manipulation.curl import CurlError, curl_line
from benchmarks.manipulation.environment import GoalAction, TestScore
from benchmarks.manipulation.http_environment import HTTPEnvironment
from protocols.simulator.http.messages import SimulatedReply

__all__ = ["CatAPI"]

_REMOVAL = "DELETE /v1/favourites/{favourite_id}"
_FAVOURITE = re.compile(r"/favourites/(\d+)")
_FAVOURITES = 9
"""Favourites that a test starts with."""


class CatAPI(HTTPEnvironment):
    """Pictures and an account; the reply to the one call and the account after it are compared with the label's."""

    name = "cat"
    max_tokens = 128
    origin = "https://api.thecatapi.com"
    secret = "live_9b1f7c2e5d8a4063"
    key_name = "x-api-key"
    folder = FOLDER

    def new_service(self) -> CatService:
        """The service with an account of its own."""
        return CatService(self.secret)

    def state_of(self, number: int, action: GoalAction) -> Mapping[str, Any]:
        """A few favourites, among them one that is to be removed."""
        rng = random.Random(f"account/{number}")
        removed = [int(id) for id in _FAVOURITE.findall(action.action)] if action.names == (_REMOVAL,) else []
        remaining = [id for id in first_favourites() if id not in removed]
        return {"favourites": sorted([*removed, *rng.sample(remaining, _FAVOURITES - len(removed))])}

    def default_headers(self) -> dict[str, str]:
        """What the released evaluator adds to each line."""
        return {"content-type": "application/json", "x-api-key": self.secret}

    def members(self, reply: SimulatedReply) -> Mapping[str, object]:
        """What is compared; a reply that reports success is compared without its new identifier."""
        members = super().members(reply)
        if isinstance(reply.body, Mapping):
            return {name: value for name, value in members.items() if name != "id"}
        return members

    def score(self) -> TestScore:
        """As for every service; with `compat`, a curl line for a removal is compared as text."""
        test = self.test
        if not self.compat or not self.text or test.names[0] != (_REMOVAL,):
            return super().score()
        try:
            line = curl_line(self.text, anywhere=True)
        except CurlError:
            line = ""
        equal = any(line.split() == label.split() for label in test.labels)
        return TestScore(float(equal), "" if equal else "non-executable", dict.fromkeys(self.figures, float(equal)))
