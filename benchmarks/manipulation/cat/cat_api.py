"""The Cat API: six functions of a service with pictures of cats, and an account that has favourites and votes.

Pictures are derived from what is searched for. The account starts anew before each test and before its label, so that
removals are executed, too. A reply to a new favourite does not say which picture it has; hence the account is compared
as well. The released evaluator compares removals as text and no account; `compat` does the same.

Source: Xu et al. (arXiv:2305.16504), appendix A.2.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from benchmarks.manipulation.curl import CurlError, curl_line
from benchmarks.manipulation.environment import NOW, GoalAction, TestScore
from benchmarks.manipulation.http_environment import HTTPEnvironment, LocalService, RefusedRequestError
from protocols.simulator.http.messages import SimulatedReply, SimulatedRequest

__all__ = ["CatAPI"]

_ALPHABET = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_SIZES = ("thumb", "small", "med", "full")
_ORDERS = ("RANDOM", "ASC", "DESC")
_MOST = 100
_PICTURES = 1000
"""Pictures of a search."""
_FAVOURITE = re.compile(r"/v1/favourites/([^/]+)")
_CREATED = NOW.strftime("%Y-%m-%dT%H:%M:%S.000Z")

_REMOVAL = "DELETE /v1/favourites/{favourite_id}"
_REMOVED = re.compile(r"/favourites/(\d+)")
_FAVOURITES = 9
"""Favourites that a test starts with."""


def _digest(*purpose: object) -> bytes:
    return blake2b("/".join(map(str, purpose)).encode(), digest_size=16).digest()


def _identifier(*purpose: object) -> str:
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in _digest(*purpose)[:9])


def favourite(id: int) -> str:
    """The picture of a favourite that an account starts with."""
    return _identifier("favourite", id)


@lru_cache(maxsize=1)
def first_favourites() -> tuple[int, ...]:
    """The favourites of an account without a state of its own."""
    return tuple(2_100_000 + int.from_bytes(_digest("favourites", number)[:2], "big") for number in range(40))


class CatService(LocalService):
    """Answers with JSON; its one key is `secret`. The one account has favourites by id, and votes, the oldest first."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._seed = 0
        self._favourites: dict[int, str] = {}
        self._votes: list[tuple[str, int]] = []

    def reset(self, state: Mapping[str, Any], seed: int) -> None:
        """Start with the favourites of `state`, those of `first_favourites` by default; a seed is another order."""
        self._seed = seed
        self._favourites = {id: favourite(id) for id in state.get("favourites", first_favourites())}
        self._votes = []

    def snapshot(self) -> object:
        """Pictures that are favourites, and votes, in no order."""
        return sorted(self._favourites.values()), sorted(self._votes)

    def name(self, method: str, path: str) -> str:
        """Method and path, with a placeholder for the favourite."""
        return f"{method} {_FAVOURITE.sub('/v1/favourites/{favourite_id}', path)}"

    def answer(self, request: SimulatedRequest) -> SimulatedReply:
        """Answer one request; where a parameter is given twice, the last one counts."""
        try:
            body = self._answer(request)
        except RefusedRequestError as error:
            refusal = {"message": str(error), "status": error.status, "level": "error"}
            return SimulatedReply(error.status, refusal, "application/json")
        return SimulatedReply(201 if request.method == "POST" else 200, body, "application/json")

    def _answer(self, request: SimulatedRequest) -> object:
        query = dict(request.query)
        call = request.method, request.path
        match = _FAVOURITE.fullmatch(request.path)
        if match is None and request.path not in ("/v1/favourites", "/v1/votes", "/v1/images/search"):
            raise RefusedRequestError(404, "NOT_FOUND")
        if self._secret not in (request.header("x-api-key"), query.get("api_key")):
            raise RefusedRequestError(401, "AUTHENTICATION_ERROR: send your key as x-api-key")
        if match is not None and request.method == "DELETE":
            return self._remove(match[1])
        if call == ("GET", "/v1/favourites"):
            return self._listed(query)
        if call == ("POST", "/v1/favourites"):
            return self._add(_body(request))
        if call == ("POST", "/v1/votes"):
            return self._vote(_body(request))
        if call == ("GET", "/v1/images/search"):
            return _search(query, self._seed)
        raise RefusedRequestError(405, f"METHOD_NOT_ALLOWED: {request.method}")

    def _remove(self, id: str) -> object:
        if not id.isdecimal() or int(id) not in self._favourites:
            raise RefusedRequestError(404, "NOT_FOUND: there is no such favourite")
        del self._favourites[int(id)]
        return {"message": "SUCCESS"}

    def _listed(self, query: Mapping[str, str]) -> object:
        order = _choice(query, "order", _ORDERS, "ASC")
        ids = sorted(self._favourites, reverse=order == "DESC")
        if order == "RANDOM":
            ids.sort(key=lambda id: _digest(self._seed, id))
        return [
            {
                "id": id,
                "image_id": self._favourites[id],
                "user_id": "u-4731",
                "created_at": _CREATED,
                "image": {
                    "id": self._favourites[id],
                    "url": f"https://cdn.thecatapi.com/images/{self._favourites[id]}.jpg",
                },
            }
            for id in _page(ids, query, _MOST)
        ]

    def _add(self, body: Mapping[str, Any]) -> object:
        picture = _picture_id(body)
        if picture in self._favourites.values():
            raise RefusedRequestError(400, "DUPLICATE_FAVOURITE: the picture is a favourite already")
        id = max(self._favourites, default=2_000_000) + 1
        self._favourites[id] = picture
        return {"message": "SUCCESS", "id": id}

    def _vote(self, body: Mapping[str, Any]) -> object:
        picture, value = _picture_id(body), body.get("value")
        if isinstance(value, bool) or value not in (-1, 0, 1):
            raise RefusedRequestError(400, "INVALID_DATA: value is 1 for up and 0 for down")
        self._votes.append((picture, int(value)))
        return {"message": "SUCCESS", "id": 500 + len(self._votes), "image_id": picture, "value": value}


def _body(request: SimulatedRequest) -> Mapping[str, Any]:
    try:
        body = json.loads(request.body or b"null")
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, Mapping):
        raise RefusedRequestError(400, "INVALID_DATA: the body is no JSON object")
    return body


def _picture_id(body: Mapping[str, Any]) -> str:
    picture = body.get("image_id")
    if not isinstance(picture, str) or not re.fullmatch(r"[\w-]{1,40}", picture):
        raise RefusedRequestError(400, "INVALID_DATA: image_id is required")
    return picture


def _search(query: Mapping[str, str], seed: int) -> object:
    """Pictures of the breeds, categories and types that are asked for; several values are separated by commas."""
    size, order = _choice(query, "size", _SIZES, "med"), _choice(query, "order", _ORDERS, "RANDOM")
    wanted = [_several(query, name) for name in ("breed_ids", "category_ids", "mime_types")]
    drawn = seed if order == "RANDOM" else order
    return [_picture(wanted, size, drawn, place) for place in _page(range(_PICTURES), query, 1)]


def _picture(wanted: Sequence[Sequence[str]], size: str, order: object, place: int) -> dict[str, Any]:
    digest = _digest(wanted, order, place)
    breeds_wanted, categories, types = wanted
    id, type = _identifier(wanted, order, place), types[digest[9] % len(types)] if types else "jpg"
    record: dict[str, Any] = {
        "id": id,
        "url": f"https://cdn.thecatapi.com/images/{size}/{id}.{type}",
        "width": 400 + digest[10] * 4,
        "height": 300 + digest[11] * 4,
    }
    if breeds_wanted:
        record["breeds"] = [{"id": breeds_wanted[digest[12] % len(breeds_wanted)]}]
    if categories:
        record["categories"] = [{"id": categories[digest[13] % len(categories)]}]
    return record


def _several(query: Mapping[str, str], name: str) -> list[str]:
    return sorted({value.strip().lower() for value in query.get(name, "").split(",") if value.strip()})


def _choice(query: Mapping[str, str], name: str, choices: Sequence[str], default: str) -> str:
    value = query.get(name, default)
    match = [choice for choice in choices if choice.lower() == value.lower()]
    if not match:
        raise RefusedRequestError(400, f"INVALID_DATA: {name} is one of {', '.join(choices)}")
    return match[0]


def _page(items: Sequence[Any], query: Mapping[str, str], default: int) -> Sequence[Any]:
    numbers = {}
    for name, value, least in (("limit", default, 1), ("page", 0, 0)):
        text = query.get(name, str(value))
        if not text.isdecimal() or int(text) < least or (name == "limit" and int(text) > _MOST):
            raise RefusedRequestError(
                400, f"INVALID_DATA: {name} is a number from {least}{f' to {_MOST}' * (name == 'limit')}"
            )
        numbers[name] = int(text)
    start = numbers["page"] * numbers["limit"]
    return items[start : start + numbers["limit"]]


class CatAPI(HTTPEnvironment):
    """Pictures and an account; the reply to the one call and the account after it are compared with the label's."""

    name = "cat"
    max_tokens = 128
    origin = "https://api.thecatapi.com"
    secret = "live_9b1f7c2e5d8a4063"
    key_name = "x-api-key"
    folder = Path(__file__).parent

    def new_service(self) -> CatService:
        """The service with an account of its own."""
        return CatService(self.secret)

    def state_of(self, number: int, action: GoalAction) -> Mapping[str, Any]:
        """A few favourites, among them one that is to be removed."""
        rng = random.Random(f"account/{number}")
        removed = [int(id) for id in _REMOVED.findall(action.action)] if action.names == (_REMOVAL,) else []
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
