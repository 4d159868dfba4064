"""Why a service refused a request: whatever form it says that in, a program and a user read which field is wrong."""

from __future__ import annotations

import json

import pytest

from sandbox.egress.reasons import service_message
from tests.protocols.wire.conftest import Run

PATHS = {"/orders": {"post": {"responses": {"201": {"description": "Created."}}}}}


def _order(status: int, body: object, kind: str = "application/json") -> object:
    return lambda request: (status, {"Content-Type": kind}, body if isinstance(body, str) else json.dumps(body))


AS_JSON = {"Content-Type": "application/json"}
BODIES = """\
ASP.NET Core
amount: must be positive; $.day: no day
{"title": "One or more errors.", "status": 400, "errors": {"amount": ["must be positive"], "$.day": ["no day"]}}

RFC 9457
It costs 50 and 30 are there; You lack credit.
{"title": "You lack credit.", "detail": "It costs 50 and 30 are there.", "balance": 30, "accounts": ["/a/1"]}

RFC 9457, invalid-params
age: must be an integer
{"title": "Bad Request", "invalid-params": [{"name": "age", "reason": "must be an integer"}]}

FastAPI
query.day: Field required; body.items[0].price: Input should be a number
{"detail": [{"type": "missing", "loc": ["query", "day"], "msg": "Field required", "input": null}, {"loc": ["body",
"items", 0, "price"], "msg": "Input should be a number", "input": "a b", "url": "x y"}]}

JSON:API
/data/attributes/name: Name is too short; include: Invalid parameter
{"errors": [{"title": "Invalid", "detail": "Name is too short.", "source": {"pointer": "/data/attributes/name"}},
{"title": "Invalid parameter", "source": {"parameter": "include"}}]}

Django REST framework
title: May not be blank; rows[1].n: No integer; The days clash.
{"title": ["May not be blank."], "rows": [{}, {"n": ["No integer."]}], "non_field_errors": ["The days clash."]}

Rails
message: is too short; Nothing was ordered
{"errors": {"message": ["is too short"], "base": ["Nothing was ordered"]}}

GraphQL
user: No such user
{"data": null, "errors": [{"message": "No such user", "path": ["user"], "extensions": {"stacktrace": ["at x y"]}}]}

Google
page_size: too large; Request contains an invalid argument.
{"error": {"code": 400, "message": "Request contains an invalid argument.", "status": "INVALID_ARGUMENT", "details":
[{"@type": "t", "fieldViolations": [{"field": "page_size", "description": "too large"}]}]}}

Spring
name: must not be blank; Validation failed. Error count: 1
{"error": "Bad Request", "path": "/orders", "message": "Validation failed. Error count: 1", "errors": [{"field": "name",
"defaultMessage": "must not be blank", "arguments": [{"defaultMessage": "x"}]}]}

Zod
user.name: Expected string
{"error": {"issues": [{"code": "x", "path": ["user", "name"], "message": "Expected string"}], "name": "ZodError"}}

GitHub
title: missing_field; Validation Failed
{"message": "Validation Failed", "errors": [{"resource": "Issue", "field": "title", "code": "missing_field"}]}
"""
"""Who answers so, the reason that is read, and the body."""


def test_every_wrong_field_is_named(run: Run) -> None:
    """Details come with their field and before what sums them up; a title that only says that it failed is left out."""
    blocks = [block.split("\n", 2) for block in BODIES.split("\n\n")]
    attempt = "try:\n    POST_orders()\nexcept ToolError as error:\n    print(error)\n"
    bodies = iter([body for _, _, body in blocks])
    done = run(PATHS, attempt * len(blocks), handle=lambda _: (422, AS_JSON, next(bodies)))

    assert done.stdout.splitlines() == [
        f'POST_orders: 422 Unprocessable Entity — the service said "{reason}" (POST /orders)' for _, reason, _ in blocks
    ]


def test_a_web_page_is_read_without_its_tags(run: Run) -> None:
    """A proxy in front of the service answers with a page."""
    page = "<html><head><style>h1 {color: red}</style></head>\n<body><h1>Out of\nservice</h1><p>until 5&nbsp;pm</body>"
    done = run(PATHS, "POST_orders()", handle=_order(502, page, "text/html"))

    assert 'the service said "Out of service until 5 pm"' in done.stderr


def test_a_reason_has_600_characters_at_most_and_the_body_is_whole(run: Run) -> None:
    """What a program does with the parsed body is its own affair."""
    body = {"errors": {f"field{n}": ["is " + "very " * 10 + "wrong"] for n in range(30)}}
    program = """
        try:
            POST_orders()
        except ToolError as error:
            reason = str(error).split('"')[1]
            print(len(reason), reason[-1], len(error.body["errors"]))
    """
    done = run(PATHS, program, handle=_order(400, body))

    assert done.stdout == "600 … 30\n"


@pytest.mark.parametrize("body", [None, [], {}, 5, True, [[[]]], {"error": None}, {"errors": [None, 4]}, "", "<"])
def test_a_body_without_a_reason_is_no_error_of_ours(body: object) -> None:
    """Whatever JSON comes, the status stands."""
    assert isinstance(service_message(body), str)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(
    ("challenge", "reason"),
    [
        ('Bearer realm="x", error="insufficient_scope", error_description="orders:write \\"is\\" missing"',
         "said \"insufficient_scope: orders:write 'is' missing\""),
        ("Bearer error=invalid_token", 'said "invalid_token"'),
        ('Basic realm="x"', None),
    ],
)  # fmt: skip
def test_an_empty_refusal_says_what_its_challenge_does(
    run: Run, status: int, challenge: str, reason: str | None
) -> None:
    """RFC 6750: the reason stands in WWW-Authenticate."""
    result = run(PATHS, "POST_orders()", handle=lambda request: (status, {"WWW-Authenticate": challenge}, b""))

    assert reason is None or reason in result.stderr
    assert ("the service said" in result.stderr) == (reason is not None)
