"""The Cat API: all labels succeed, no mutant does, removals are executed, and each failure has its class."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import pytest
import requests

from benchmarks.manipulation.cat.cat_api import CatAPI
from benchmarks.manipulation.environment import ManipulationTest
from tests.benchmarks.manipulation.suite_tasks import SPOILED, judged


@pytest.fixture(scope="module")
def cat() -> Iterator[CatAPI]:
    with closing(CatAPI()) as environment:
        yield environment


def of_kind(environment: CatAPI, call: str, part: str = "") -> ManipulationTest:
    """The first test of a function."""
    return next(test for test in environment.tests if test.names[0] == (call,) and part in test.labels[0])


MUTANTS: dict[str, Sequence[Callable[[str], str]]] = {
    "non-executable": [lambda label: label.replace("api.thecatapi.com", "api.cats.example"), *SPOILED.values()],
    "wrong API": [
        lambda label: label.replace("/v1/", "/v2/"),
        lambda label: re.sub("-X [A-Z]+", "-X PUT", label),
        lambda label: re.sub("com/v1/[a-z/]+", "com/v1/breeds/", label),
    ],
    "wrong arguments": [
        lambda label: f"{label} -H 'x-api-key: YOUR_KEY'",
        lambda label: re.sub(r"(favourites/\d+)'", r"\g<1>1'", label),
        lambda label: label.replace('"image_id": "', '"image_id": "x'),
        lambda label: label.partition(" -d")[0],
        lambda label: re.sub(r'"value": (\d)', lambda match: f'"value": {1 - int(match[1])}', label),
        lambda label: re.sub(r"(GET [^?]*?)'$", r"\1?page=99'", label),
        lambda label: re.sub(r"(breed_ids|category_ids)=", r"the_\1=", label),
    ],
}
"""What is done to a label, by the class of the failure; a change that a label does not have leaves it as it is."""


@pytest.mark.parametrize("failure", MUTANTS)
def test_no_mutant_succeeds(cat: CatAPI, failure: str) -> None:
    """Wrong calls fail in the class that says what is wrong, and so does all that does not execute."""
    for test in cat.tests[::4]:
        label = test.labels[0]
        for mutant in {mutate(label) for mutate in MUTANTS[failure]} - {label}:
            score = judged(cat, test, mutant)
            assert (score.value, score.failure) == (0, failure), mutant


def test_calls_that_are_answered_alike_are_equal(cat: CatAPI) -> None:
    """The order of parameters, defaults written out, blanks in a body, headers and double quotes: all succeed."""
    vote = of_kind(cat, "POST /v1/votes")
    search = of_kind(cat, "GET /v1/images/search", "&breed_ids")
    listing = of_kind(cat, "GET /v1/favourites", "favourites'")
    address, _, query = search.labels[0][:-1].partition("?")
    pairs = [
        (vote, vote.labels[0].replace(": ", ":").replace("-d", "--data")),
        (vote, vote.labels[0].replace("-X", "-H 'Content-Type: application/json' --request")),
        (vote, vote.labels[0] + " -H 'x-api-key: {API_KEY}'"),
        (search, f"{address}?{'&'.join(reversed(query.split('&')))}'"),
        (search, search.labels[0][:-1] + "&order=RANDOM&size=med&page=0'"),
        (search, search.labels[0].replace("'", '"')),
        (listing, listing.labels[0][:-1] + "?order=asc&limit=100'"),
    ]
    for test, text in pairs:
        assert judged(cat, test, text).value == 1, text


def test_removals_are_executed(cat: CatAPI) -> None:
    """A removal changes the account, which starts anew with each test; what else changes it makes the test fail."""
    test = of_kind(cat, "DELETE /v1/favourites/{favourite_id}")
    favourites = set(test.state["favourites"])
    for _ in range(2):
        cat.reset(test)
        cat.act(test.labels[0])
        listed = requests.get(f"{cat.url}/v1/favourites", headers={"x-api-key": cat.secret}, timeout=5).json()
        assert favourites - {entry["id"] for entry in listed} == {int(test.labels[0][:-1].rpartition("/")[2])}
    assert cat.score().value == 1
    number = sorted(favourites)[0]
    cat.reset(test)
    cat.act(test.labels[0].rpartition("/")[0] + f"/{number}'")
    cat.act(test.labels[0])
    assert cat.score().value == 0


def test_compat_compares_removals_as_text() -> None:
    """Blanks do not count, anything else does, and what is unequal counts as not executable."""
    with closing(CatAPI(compat=True)) as cat:
        test = of_kind(cat, "DELETE /v1/favourites/{favourite_id}")
        label = test.labels[0]
        assert judged(cat, test, f"Of course:\n{label.replace(' ', '   ')}").value == 1
        for text in (label.replace("'", '"'), label.replace("-X", "--request"), "no call"):
            assert judged(cat, test, text).failure == "non-executable"
        assert judged(cat, test, label).details == {"f1": 1.0, "precision": 1.0, "recall": 1.0}


def test_compat_does_not_see_which_picture_became_a_favourite(cat: CatAPI) -> None:
    """The reply to a new favourite does not have its picture; only by default is the account compared."""
    test = of_kind(cat, "POST /v1/favourites")
    wrong = test.labels[0].replace('"image_id": "', '"image_id": "x')

    assert judged(cat, test, wrong).value == 0
    with closing(CatAPI(compat=True)) as released:
        assert judged(released, test, wrong).value == 1


def test_headers_of_the_connection_are_left_to_it(cat: CatAPI) -> None:
    """A length that is wrong would let the service wait for the rest of a body."""
    test = of_kind(cat, "GET /v1/favourites")
    for header in ("Content-Length: 5", "Transfer-Encoding: chunked", "Connection: close"):
        assert judged(cat, test, f"{test.labels[0]} -H '{header}'").value == 1
