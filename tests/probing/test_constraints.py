"""What calls say of arguments that the document does not: required in practice, values, defaults, sizes of pages."""

from __future__ import annotations

from typing import Any

from probing.document import openapi_document
from probing.prober.prober import Prober
from probing.schema.constraints import Constraint, ObservedCall, infer_constraints
from protocols import load
from protocols.model import Protocol
from sandbox import Sandbox
from tests.local_api import PREFIX, Answer, LocalAPI, Received

DISHES: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Dishes", "version": "1"},
    "paths": {
        "/dishes": {
            "get": {
                "parameters": [
                    {"name": name, "in": "query", "schema": {"type": kind}}
                    for name, kind in {"q": "string", "diet": "string", "page": "integer", "lang": "string"}.items()
                ]
            }
        },
        "/dishes/{dish_id}": {
            "get": {"parameters": [{"name": "dish_id", "in": "path", "required": True, "schema": {"type": "integer"}}]}
        },
    },
}
PAGE = {"dishes": [{"dish_id": 7}], "page": 1, "total": 3, "lang": "en"}
TOOL = load({**DISHES, "servers": [{"url": "https://dishes.example"}]}).tool("GET_dishes")


def held(*calls: ObservedCall) -> dict[str, tuple[str, object]]:
    """By argument ("" for none), kind and value of what holds of it."""
    return {
        constraint.argument or "": (constraint.kind, constraint.value) for constraint in infer_constraints(TOOL, calls)
    }


def good(body: dict[str, object] | None = None, **arguments: object) -> ObservedCall:
    return ObservedCall(arguments, 200, PAGE if body is None else body, "")


def refused(detail: str, **arguments: object) -> ObservedCall:
    return ObservedCall(arguments, 400, {"detail": detail}, detail)


def test_what_must_be_given_after_all() -> None:
    """The refusal says so, or the same call went well with it; not where a call did without."""
    assert held(refused("q is required"))["q"] == ("required", True)
    assert held(refused("bad request"), good(q="soup"))["q"] == ("required", True)
    assert "q" not in held(refused("bad request"), good(q="soup", page=2))
    assert "q" not in held(refused("q is required"), good())
    assert "diet" not in held(refused("q is required"), good(q="soup"))
    assert not held(refused("provide either q or diet"))  # neither has to be there


def test_which_values_are_taken() -> None:
    detail = "diet must be one of vegan, low-fat or any."

    assert held(refused(detail, diet="High Protein"))["diet"] == ("values", ["vegan", "low-fat", "any"])
    assert "diet" not in held(refused("page: one of 1, 2", diet="vegan"))
    assert "diet" not in held(refused("diet must be one of these", diet="x"))


def test_what_is_taken_for_what_was_not_given() -> None:
    """What an answer says under the argument's own name; of what is not about pages it has to be seen to follow."""
    assert held(good())["page"] == ("default", 1)
    assert "lang" not in held(good())
    assert held(good(), good({**PAGE, "lang": "de"}, lang="de"))["lang"] == ("default", "en")
    assert "lang" not in held(good(), good(lang="de"))
    assert "page" not in held(good(), good({**PAGE, "page": 2}))


def test_how_many_items_a_page_has() -> None:
    (page,) = [constraint for constraint in infer_constraints(TOOL, [good()]) if constraint.kind == "page_size"]

    assert page == Constraint("page_size", None, 1, "1 of 3 items came")
    assert "" not in held(good({"dishes": [{}], "total": 1}))
    assert "" not in held(good(), good({"dishes": [{}, {}], "total": 3}))


class Dishes(LocalAPI):
    """Wants a word to search for, and knows one dish."""

    @property
    def protocol(self) -> Protocol:
        return load({**DISHES, "servers": [{"url": self.url}]})

    def next(self, received: Received) -> Answer:
        self.requests.append(received)
        path = received.path.removeprefix(PREFIX)
        if path.startswith("/dishes/"):
            is_soup = path == "/dishes/7"
            return Answer(200, {"dish_id": 7, "name": "Soup"}) if is_soup else Answer(404, {"detail": "no such dish"})
        query = dict(received.query)
        if "q" not in query:
            return Answer(422, {"detail": "q is required"})
        return Answer(200, {**PAGE, "page": int(query.get("page", 1))})


def test_a_probe_writes_them_down_with_what_was_tried() -> None:
    """In the document's own terms where it has them, and each with its evidence; refusals with arguments and reply."""
    with Dishes() as service, Sandbox(service.protocol, track=False) as sandbox:
        prober = Prober(service.protocol, None, sandbox)
        prober.run("GET_dishes", "print(GET_dishes())")
        prober.run("GET_dishes_dish_id", "print(GET_dishes_dish_id(dish_id=12))")
        report = prober.probe()
        document = openapi_document(service.protocol, prober.findings)

    search, detail = (document["paths"][path]["get"] for path in ("/dishes", "/dishes/{dish_id}"))
    held = {parameter["name"]: parameter for parameter in search["parameters"]}
    assert (held["q"]["required"], held["q"]["x-observed"]) == (True, ["422 without it: q is required"])
    assert held["page"]["schema"] == {"type": "integer", "default": 1}
    assert search["x-page-size"] == {"items": 1, "evidence": "1 of 3 items came"}
    missing = detail["responses"]["404"]
    assert missing["x-tried"] == {"dish_id": 12}
    assert missing["content"] == {"application/json": {"example": {"detail": "no such dish"}}}
    (search_report,) = [tool for tool in report.to_json()["tools"] if tool["tool"] == "GET_dishes"]
    assert [constraint["kind"] for constraint in search_report["constraints"]] == ["required", "default", "page_size"]
    assert search_report["refused"]["422"] == {"arguments": {}, "reply": {"detail": "q is required"}}
    assert load(document).tool("GET_dishes").argument("q").required  # type: ignore[union-attr]
