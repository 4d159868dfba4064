"""Facts about runs that were built by hand, each beside how often it stood on right and on wrong answers.

The rates in the docstrings are `right/wrong` of 67 and 12 answers of a strong model and of 60 and 34 of the local one,
on unseen splits; `dev` are 30 and 23 answers of the local model on the development splits (2026-11-27).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from atc.evidence import facts, is_unsupported, judge
from sandbox.records import Provenance, Run, Source
from tests.atc.evidence.runs import GRAPH, call, exact, printed, run

PART = {"page": 1, "totalPages": 5, "totalCount": 96, "films": [{"title": "Dune", "rating": 8.0}] * 20}
FILMS = {"films": [{"title": "Dusk"}, {"title": "Dune"}]}
DEPOTS = {"depots": [{"city": "Bergen", "name": "Harbour"}, {"city": "Lisbon", "name": "East"}]}


def kinds(program: str, finished: Run) -> list[str]:
    """The kinds of the facts."""
    return [fact.kind for fact in facts(program, finished, GRAPH)]


def test_an_answer_without_any_reply() -> None:
    """NoCall and NoEvidence: strong 0/0, local 0/0, dev 0/1. What a model believes to know is no evidence."""
    assert kinds("print('Paris')", printed("Paris")) == ["NoCall"]
    assert kinds("print('Paris')", printed("Paris", 404))[0] == "NoEvidence"
    nothing = replace(printed("Paris", 200), provenance=Provenance())
    assert "NoEvidence" in kinds("GET_films()\nprint('Paris')", nothing)


def test_an_error_that_was_swallowed_is_told_with_its_call() -> None:
    """ErrorSwallowed: strong 1/0, local 0/0. A failure that another call made good is none."""
    good, bad = call(response=FILMS), call("GET_films_filmId", {"message": "gone"}, 404, line=4, filmId=9)
    program = "GET_films()\ntry:\n    film = 1\n    GET_films_filmId(filmId=9)\nexcept Exception:\n    pass\nprint(7)"
    (fact,) = facts(program, run("7", good, bad), GRAPH)

    assert (fact.kind, fact.line, fact.call) == ("ErrorSwallowed", 4, 1)
    assert "GET_films_filmId: 404" in fact.message
    again = call("GET_films_filmId", {"runtimeMinutes": 7}, 200, line=6, filmId=41)
    assert kinds(program, run("7", good, bad, again)) == []


def test_not_found_may_be_the_answer() -> None:
    """A handler that prints the answer to a 404 hides nothing."""
    bad, good = call("GET_films_filmId", {"message": "gone"}, 404, filmId=99), call("GET_me", {"displayName": "Ada"})
    program = "try:\n    GET_films_filmId(filmId=99)\n    print('Yes')\nexcept Exception:\n    print('No')"

    assert kinds(program, run("No", good, replace(bad, line=2))) == []


@pytest.mark.parametrize(
    ("handler", "is_answer"),
    [
        ("except ToolError as error:\n    if error.status != 404:\n        raise", True),
        ("except ToolError:\n    pass", False),
    ],
)
def test_not_found_is_the_answer_where_the_program_looks_for_it(handler: str, is_answer: bool) -> None:
    """Then it rests on a reply, although no call went well; a handler of anything hides what happened."""
    bad = call("GET_films_filmId", {"message": "gone"}, 404, line=2, filmId=99)
    program = f"try:\n    GET_films_filmId(filmId=99)\n{handler}\nprint('No')"

    assert is_unsupported(program, run("No", bad)) != is_answer
    assert ("NoEvidence" in kinds(program, run("No", bad))) != is_answer


def test_an_error_that_is_printed_is_no_answer() -> None:
    """ErrorPrinted: strong 0/0, local 0/0. The service said it, with any status, or a handler of the program."""
    refused = call(response={"message": "there is no such film"}, status=422)
    program = "try:\n    GET_films()\nexcept Exception as error:\n    print('It failed:', error)"

    assert "ErrorPrinted" in kinds(program, run("there is no such film", call(response=FILMS), refused))
    polite = call(response={"success": False, "message": "quota is used up"})
    assert "ErrorPrinted" in kinds("print(GET_films())", run("quota is used up", polite))
    assert "ErrorPrinted" in kinds(program, run("It failed: list index out of range", call(response=FILMS)))


@pytest.mark.parametrize(
    ("program", "is_partial"),
    [
        ('print(len(GET_films()["films"]))', True),
        ('films = GET_films()["films"]\nprint(max(films, key=len)["title"])', True),
        ('for film in GET_films()["films"]:\n    print(film["title"])', True),
        ('print(GET_films()["totalCount"])', False),
        ('print(GET_films()["films"][0]["title"])', False),
        ('for film in GET_films()["films"][:3]:\n    print(film["title"])', False),
    ],
)
def test_a_page_is_not_the_list(program: str, is_partial: bool) -> None:
    """FirstPage: strong 1/6, local 2/0, dev 0/0. It is told where the program goes through the list."""
    path = ("totalCount",) if "totalCount" in program else ("films",)
    finished = run("20 Dune", call(response=PART), printed=(Source(0, path, "made"),))

    assert kinds(program, finished) == ["FirstPage"] * is_partial


@pytest.mark.parametrize(
    ("around", "is_partial"),
    [
        ({"total": 30, "limit": 2}, True),
        ({"total": 2, "limit": 2}, False),
        ({"total": 30}, False),  # what an order costs, perhaps
        ({"hasMore": True}, True),
        ({"hasMore": False}, False),
        ({"next": "https://api.test/films?page=2"}, True),
        ({"next": None}, False),
        ({"page": 1, "pages": 1}, False),
        ({"meta": {"pagination": {"next_page": 2}}}, True),
        ({"meta": {"pagination": {"next_page": None}}}, False),
    ],
)
def test_replies_say_in_several_ways_that_there_is_more(around: Mapping[str, object], is_partial: bool) -> None:
    """A total, a number of pages, something that leads on."""
    finished = run("2", call(response={"items": [1, 2], **around}), printed=(Source(0, ("items",), "made"),))

    assert kinds('print(len(GET_films()["items"]))', finished) == ["FirstPage"] * is_partial


def test_a_link_header_tells_of_a_next_page() -> None:
    """RFC 8288, as bare lists have it; the last page has no such header, and may be as long as the others."""
    program, films = "print(len(GET_films(limit=20)))", [{"title": "Dusk"}] * 20
    sources = (Source(0, (), "made"),)
    first = replace(call(response=films, limit=20), more=True)
    last = call(response=films, limit=20, page=2)

    assert kinds(program, run("20", first, printed=sources)) == ["FirstPage"]
    assert kinds(program, run("40", first, last, printed=sources)) == []


def test_a_page_as_long_as_the_question_says_is_no_first_page() -> None:
    """A full page may be the first of several, unless the question asks for so many."""
    finished = run("Dusk", call(response=[{"title": "Dusk"}] * 20, limit=20), printed=(Source(0, (), "made"),))
    program = "print(sorted(GET_films(limit=20))[0])"

    assert [fact.kind for fact in facts(program, finished, GRAPH, "Which films are there?")] == ["FirstPage"]
    assert facts(program, finished, GRAPH, "Which of the top 20 films comes first?") == ()


def test_a_total_beside_several_lists_is_that_of_none() -> None:
    """Unless something else says that there are pages."""
    metadata = {"writers": ["a", "b"], "painters": ["c"], "totalCount": 96}
    sources = (Source(0, ("writers",), "made"),)
    finished = run("2", call("GET_me", metadata), printed=sources)
    paged = run("2", call("GET_me", {**metadata, "page": 1}), printed=sources)

    assert kinds('print(len(GET_me()["writers"]))', finished) == []
    assert kinds('print(len(GET_me()["writers"]))', paged) == ["FirstPage"]


def test_all_pages_together_are_the_list() -> None:
    """Who asks for each page has read all of them; one item that was looked for needs no other page."""
    pages = [call(response={"page": n, "totalPages": 3, "films": [n]}, page=n, line=3) for n in (1, 2, 3)]
    program = 'films = []\nfor n in range(1, 4):\n    films += GET_films(page=n)["films"]\nprint(len(films))'
    sources = (Source(0, ("films",), "made"),)

    assert kinds(program, run("3", *pages, printed=sources)) == []
    assert kinds(program, run("2", *pages[:2], printed=sources)) == ["FirstPage"]
    picked = run("Dune", call(response=PART), printed=(exact("films", 4, "title"),))
    assert kinds('print(next(film for film in GET_films()["films"] if film["rating"] > 7)["title"])', picked) == []


@pytest.mark.parametrize(
    ("compared", "is_slip"),
    [
        ('depot["city"] == "bergen"', True),
        ('depot["city"] == "Bergen."', True),
        ('depot.get("town") == "Bergen"', True),
        ('depot["city"] == "Oslo"', False),
        ('depot["city"] == "Bergen"', False),
    ],
)
def test_a_slip_makes_a_list_empty(compared: str, is_slip: bool) -> None:
    """EmptyForNegative: strong 0/2 with the readings of the question that went, local and dev 0/0.

    Nothing passes a filter that is spelt otherwise than the data, or asks for a field that they lack.
    """
    program = f'print(len([depot for depot in GET_depots()["depots"] if {compared}]))'
    finished = run("0", call("GET_depots", DEPOTS), printed=(Source(0, ("depots",), "made"),))

    assert kinds(program, finished) == ["EmptyForNegative"] * is_slip


def test_a_documented_field_may_be_left_out() -> None:
    """Such as the cursor of a last page; a field that the document has not is a slip."""
    finished = run("0", call(response=FILMS), printed=(Source(0, ("films",), "made"),))
    program = 'print(len([film for film in GET_films()["films"] if film.get("rating", 0) > 7]))'

    assert kinds(program, finished) == []
    assert kinds(program.replace("rating", "stars"), finished) == ["EmptyForNegative"]


@pytest.mark.parametrize(
    ("text", "response", "path", "is_empty"),
    [
        ("No films", {"films": []}, ("films",), True),
        ("Cast: []", FILMS, ("films",), True),
        ("died on None", {"died": None}, ("died",), True),
        ("No", FILMS, ("films",), False),
        ("Nothing Else Matters", FILMS, ("films", 0, "title"), False),
    ],
)
def test_an_empty_search_behind_the_answer(
    text: str, response: object, path: tuple[str | int, ...], is_empty: bool
) -> None:
    """NothingFound: strong 1/1, local 0/2, dev 0/1. The call that returned nothing is named with its arguments."""
    record = call(response=response, query="Dune")
    findings = facts('print(GET_films(query="Dune"))', run(text, record, printed=(exact(*path),)), GRAPH)

    assert [fact.kind for fact in findings] == ["NothingFound"] * is_empty
    if text == "No films":
        assert (findings[0].call, findings[0].message) == (0, "nothing was found by GET_films(query='Dune')")


@pytest.mark.parametrize("end", ["while page < 9", "while True"])
def test_a_loop_over_pages_may_end_before_the_last(end: str) -> None:
    """As on reaching what is too old; a loop over a fixed number of pages has read that many."""
    program = f'page, n = 1, 0\n{end}:\n    films = GET_films(page=page)["films"]\n    n += len(films)\n    page += 1\n'
    program += '    if films[-1]["year"] < 2020:\n        break\nprint(n)'
    finished = run("20", call(response=PART, page=1, line=3), printed=(Source(0, ("films",), "made"),))

    assert kinds(program, finished) == []
    assert kinds(
        program.replace(f"{end}:", "for page in (1,):").replace("        break", "        pass"), finished
    ) == ["FirstPage"]


@pytest.mark.parametrize(
    "loop",
    [
        "while page <= 1:",
        "for page in range(1, 2):",
        "while films[-1:] == page * 9:\n    if not page:\n        break",
    ],
)
def test_a_loop_that_counts_has_read_so_many_pages(loop: str) -> None:
    """A number of pages that the program has chosen is no end of the list; nor does a page of one number move."""
    argument = "1" if "films[" in loop else "page"
    program = (
        f"page, n, films = 1, 0, []\n{loop}\n    n += len(GET_films(page={argument})['films'])\n    page += 1\nprint(n)"
    )
    line = 1 + program[: program.index("GET_films")].count("\n")
    finished = run("20", call(response=PART, page=1, line=line), printed=(Source(0, ("films",), "made"),))

    assert kinds(program, finished) == ["FirstPage"]


def test_an_empty_last_page_is_not_nothing() -> None:
    pages = [call(response={"films": films}, page=page) for page, films in enumerate(([{"title": "Dune"}], []), 1)]
    finished = run("none of them", *pages, printed=(Source(0, ("films",), "decided"),))

    assert kinds("print(GET_films(page=1))", finished) == []


@pytest.mark.parametrize(
    ("use", "is_dead"),
    [
        ("", True),
        ('if not reviews["reviews"]:\n    print("No reviews")', False),
        ('if not reviews["reviews"]:\n    raise SystemExit', False),
        ('for review in reviews["reviews"]:\n    if review["stars"] > 3:\n        break', True),
        ('while True:\n    if reviews["reviews"]:\n        break\n    print("…")', False),
        ('best = [f for f in film["films"] if f["title"] in reviews]\nprint(best)', False),
        ('def show():\n    print("one")\nif reviews:\n    show()', False),
        ('match reviews:\n    case {}:\n        print("one")', False),
        ('if reviews["reviews"]:\n    PUT_me_watchlist(filmId=1)', False),
    ],
)
def test_a_call_that_nothing_depends_on(use: str, is_dead: bool) -> None:
    """DeadCall: strong 0/1, local 4/6 before decisions counted, dev 0/3 since. What decides something contributes."""
    films, reviews = call(response=FILMS), call("GET_films_filmId_reviews", {"reviews": [{"text": "Fine"}]}, line=2)
    write = call("PUT_me_watchlist", {}, 204, line=4)
    program = f'film = GET_films(query="Dune")\nreviews = GET_films_filmId_reviews(filmId=1)\n{use}\nprint(film)'
    finished = run("Dusk", films, reviews, *([write] * ("PUT" in use)), printed=(exact("films", 0, "title"),))

    assert kinds(program, finished) == ["DeadCall"] * is_dead


def test_a_deep_program_is_no_trouble() -> None:
    """Whatever a program is like, its inspection ends."""
    assert kinds(f"print(len({'+'.join(['x'] * 900)}))", printed("9", 200)) == []


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("x = 1", "without printing an answer"),
        ("for film in []:\n    print(film)", "the print() on line 2 was never reached"),
    ],
)
def test_silence_is_no_answer(program: str, message: str) -> None:
    """The fault says where a print stands that was not reached."""
    fault = judge(program, printed("  \n", 200))

    assert fault is not None
    assert (fault.stage, fault.type) == ("answer", "NoOutput")
    assert message in fault.message


def test_what_rests_on_nothing() -> None:
    """An answer rests on a printed value, on a call that decides about it, or on an accepted write."""
    nothing = replace(printed("Paris", 200), provenance=Provenance())

    assert is_unsupported("print('Paris')", printed("Paris"))
    assert is_unsupported("GET_films()\nprint('Paris')", nothing)
    assert is_unsupported("print('Paris')", printed("Paris", 404))
    assert not is_unsupported("if not GET_films():\n    print('none')", nothing)
    assert not is_unsupported("", replace(printed("done", 204, method="PUT"), provenance=Provenance()))
