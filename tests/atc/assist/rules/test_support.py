"""An answer has to rest on good responses, and each printed value on its label."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atc.assist.language.question import Question
from atc.assist.rules import inspect
from atc.evidence import is_unsupported
from sandbox.records import Provenance, Source
from tests.atc.assist.rules.runs import GRAPH, call, exact, kinds, printed, run


def test_an_answer_without_any_reply_is_doubted() -> None:
    """A program that prints what the model believes to know is not evidence."""
    query = "What is the capital of France?"

    assert kinds("print('Paris')", printed("Paris"), query)[0] == "NoCall"
    assert kinds("print('Paris')", printed("Paris", 404), query)[0] == "NoEvidence"
    assert kinds("GET_films()\nprint('Paris')", replace(printed("Paris", 200), provenance=Provenance()), query) == [
        "NoEvidence"
    ]


def test_a_year_that_only_the_program_knows() -> None:
    """Beside what a reply says, the program says something of its own; what the question or a reply has is none."""
    program = 'print(GET_cities()["name"], "was founded in 1048")'
    record = call("GET_cities", {"name": "Oslo", "area": 454})
    finished = run("Oslo was founded in 1048", record, printed=(exact("name"),))

    assert kinds(program, finished, "How old is it?") == ["NoEvidence"]
    assert kinds(program, finished, "Which city was founded in 1048?") == []
    confirming = call("GET_cities", {"name": "Oslo", "founded": "1048-01-01"})
    assert kinds(program, run("Oslo was founded in 1048", confirming, printed=(exact("name"),)), "How old is it?") == []


def test_a_constant_is_no_evidence_where_a_branch_prints_it() -> None:
    """Whether something is printed rests on a reply, what is printed does not; a count or a choice is no constant."""
    record = call(response={"films": [{"genre": "drama"}]})
    finished = run("Ana Bell", record, printed=(Source(0, ("films",), "decided"),))
    program = 'if GET_films()["films"]:\n    print("Ana Bell")'

    assert kinds(program, finished, "Who made the best film?") == ["NoEvidence"]
    assert kinds(program, finished, "Is it a drama or a comedy?") == []
    assert kinds(program, replace(finished, stdout="3"), "How many films are there?") == []


def test_who_asks_for_something_to_be_done_is_not_served_by_reading() -> None:
    """The finding names what would do it; a question, and a verb that no operation is called after, are no wish."""
    read = run("Dune", call(response={"films": [{"title": "Dune"}]}), printed=(exact("films", 0, "title"),))
    (finding,) = inspect("", read, Question("Put the best film on my watchlist"), GRAPH)

    assert (finding.kind, finding.message) == (
        "NothingDone",
        "the question asks to put, and the program only reads; call PUT_me_watchlist",
    )
    assert kinds("", read, "Which film is the best? Put it on my watchlist.") == ["NothingDone"]
    assert kinds("", read, "Rank the films, please") == []
    assert kinds("", read, "Which films did people put on their watchlist?") == []
    assert kinds("", run("Dune", call(), call("PUT_me_watchlist", {}, 204)), "Put Dune on my watchlist") == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ('print("Its rating is", film["runtimeMinutes"])', True),
        ("print(f\"In all. Rating: {film['runtimeMinutes']} points\")", True),
        ('print("Its rating is", film["rating"])', False),
        ('print("Minutes of the film with the best rating:", film["runtimeMinutes"])', False),
        ('print("The rating of the film is", ratings["value"])', False),
        ('print("The film of the best rating is", film["title"])', False),
        ('print("Its rating and length:", film["rating"], film["runtimeMinutes"])', False),
        ('print("Its score:", film["runtimeMinutes"])', False),
        ('print("Its rating:", len(film["title"]))', False),
        ('print("Its rating:", film["#"])', False),
        ('rating = film["stars"]\nprint("Its rating:", film["runtimeMinutes"])', True),
        ('rated = {"rating": film}\nprint("Its rating:", rated["runtimeMinutes"])', False),
    ],
)
def test_what_is_announced_is_printed(line: str, wrong: bool) -> None:
    """A field of a reply that the words before a value name is doubted where the value is another one."""
    reply = {"title": "Dune", "rating": 8.1, "runtimeMinutes": 155}
    program = f"film = GET_films_filmId(filmId=1)\n{line}"
    findings = inspect(program, run("Dune: 155", call("GET_films_filmId", reply)), Question("What about Dune?"), GRAPH)

    assert [finding.kind for finding in findings] == ["Mislabelled"] * wrong
    if wrong:
        assert (
            "says rating and prints film['runtimeMinutes']; print the \"rating\" of GET_films and"
            in findings[0].message
        )


def test_what_another_tool_returns_is_not_announced() -> None:
    """The reviews of a film are not the number of its credits; a list that the program fills may be anything."""
    credits = "credits = GET_films_filmId_credits(filmId=1)['cast']\n"
    finished = run("Reviews: 2", call("GET_films_filmId_credits", {"cast": [{"name": "Ana"}, {"name": "Ben"}]}))

    findings = inspect(
        f'{credits}print("Reviews:", len(credits))', finished, Question("How many reviews has Dune?"), GRAPH
    )
    (finding,) = (finding for finding in findings if finding.kind == "Mislabelled")
    assert (finding.kind, finding.line) == ("Mislabelled", 2)
    assert (
        finding.message
        == 'line 2 says reviews and prints len(credits); print the "reviews" of GET_films_filmId_reviews'
    )
    listed = f'told = []\n{credits}for one in credits:\n    told.append(one["name"])\nprint("Reviews:", len(told))'
    assert "Mislabelled" not in kinds(listed, finished, "How many reviews has Dune?")
    right = credits.replace("credits =", "reviews =")
    named = kinds(f'{right}print("Reviews:", len(reviews))', finished, "How many reviews has Dune?")
    assert "Mislabelled" not in named


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        pytest.param(['print("Now:", film["rating"])', 'print("Once:", film["rating"])'], True, id="two things"),
        pytest.param(['print(f"Now: {film}, once: {film}")'], True, id="on one line"),
        pytest.param(['print("Now:", film["rating"])', 'print("Now:", film["rating"])'], False, id="one thing"),
        pytest.param(['print("A:", film)', "film = GET_films()", 'print("B:", film)'], False, id="set"),
        pytest.param(["if film:", '    print("Yes:", film)', "else:", '    print("No:", film)'], False, id="either"),
        pytest.param(['print(film["title"], "is:", film["title"])'], False, id="spoken of"),
    ],
)  # fmt: skip
def test_one_value_is_not_two_things(lines: list[str], wrong: bool) -> None:
    program = "\n".join(["film = GET_films_filmId(filmId=1)", *lines])
    reply = {"id": 1, "title": "Dune", "rating": 8.1}
    findings = inspect(program, run("Dune: 8.1", call("GET_films_filmId", reply)), Question("What about Dune?"), GRAPH)

    assert [finding.kind for finding in findings] == ["Mislabelled"] * wrong
    if len(lines) == 2 and wrong:
        assert findings[0].message == (
            'line 3 prints for "Once" what line 2 prints for "Now", film[\'rating\']; print what that is'
        )


@pytest.mark.parametrize(
    ("lines", "missing"),
    [
        ('print("Rated", film["rating"])', "How long does it take?"),
        (
            'longest = max([film["runtimeMinutes"]])\nprint(f"It takes {longest} minutes, not long")',
            "Who likes its rating?",
        ),
        ('print("Rated", film["rating"], "and it takes", film["runtimeMinutes"])', ""),
        ('print(f"Rated {film[\'rating\']}")\nprint(len(film["title"]), "takes long")', ""),
        ("told = f\"Rated {film['rating']}, takes {film['runtimeMinutes']}\"\nprint(told)", ""),
        ("print(film)", ""),
        ('print(", ".join([film["title"]]))', ""),
    ],
)
def test_each_of_several_questions_has_an_answer(lines: str, missing: str) -> None:
    """Fewer values than question marks leave one of them open; what may be several values is taken for enough."""
    reply = {"title": "Dune", "rating": 8.1, "runtimeMinutes": 155}
    text = str(reply) if lines == "print(film)" else "Rated 8.1 and 155"
    program = f"film = GET_films_filmId(filmId=1)\n{lines}"
    query = "It is about a film. Who likes its\n rating? How long does it take?"
    findings = inspect(program, run(text, call("GET_films_filmId", reply)), Question(query), GRAPH)

    assert [finding.kind for finding in findings] == ["Unanswered"] * bool(missing)
    if missing:
        assert (
            findings[0].message == f"the question asks 2 things, and the program prints 1 value; also answer: {missing}"
        )


@pytest.mark.parametrize("text", ["done", "None", "Dune was added"])
def test_what_was_done_needs_no_data(text: str) -> None:
    """After a write that the service took, any words will do; after one that it refused, they will not."""
    assert kinds("", printed(text, 200, 204, method="POST"), "add it") == []
    assert kinds("", printed(text, 404, method="POST"), "add it") != []
    assert not is_unsupported("", replace(printed(text, 204, method="PUT"), provenance=Provenance()))
    assert is_unsupported("", replace(printed(text, 200), provenance=Provenance()))


def test_an_error_that_was_swallowed_is_told_with_its_call() -> None:
    """The finding names line and call; a failure that another call made good is none."""
    good, bad = call(response={"films": []}), call("GET_films_filmId", {"message": "gone"}, 404, line=4, filmId=9)
    program = "GET_films()\ntry:\n    film = 1\n    GET_films_filmId(filmId=9)\nexcept Exception:\n    pass\nprint(7)"
    findings = inspect(program, run("7", good, bad), Question("How long is it?"), GRAPH)

    assert [(finding.kind, finding.line, finding.call) for finding in findings] == [("ErrorSwallowed", 4, 1)]
    assert "GET_films_filmId: 404" in findings[0].message
    again = call("GET_films_filmId", {"runtimeMinutes": 7}, 200, line=6, filmId=41)
    assert kinds(program, run("7", good, bad, again), "How long is it?") == []


def test_an_error_that_is_printed_is_no_answer() -> None:
    """Whether the service said it, with any status, or Python did."""
    refused = call(response={"message": "there is no such film"}, status=404)
    program = "try:\n    GET_films()\nexcept Exception as error:\n    print(error)"

    good = call(response={"films": []})
    assert "ErrorPrinted" in kinds(program, run("there is no such film", good, refused), "Who made it?")
    polite = call(response={"success": False, "message": "quota is used up"})
    assert "ErrorPrinted" in kinds("print(GET_films())", run("quota is used up", polite), "Who made it?")
    assert "ErrorPrinted" in kinds(program, run("list index out of range", good), "Who made it?")
    assert "ErrorPrinted" in kinds("print(1)", run("Error: it went wrong", good), "Who made it?")


def test_not_found_may_be_the_answer() -> None:
    """Who asks whether there is a film with a number is answered by a 404."""
    bad = call("GET_films_filmId", {"message": "gone"}, 404, filmId=99)
    good = call("GET_me", {"displayName": "Ada"})
    program = "try:\n    GET_films_filmId(filmId=99)\n    print('Yes')\nexcept Exception:\n    print('No')"

    assert kinds(program, run("No", good, bad), "Is there a film 99?") == []
    assert kinds(program, run("No", good, bad), "Who made the film 99?") != []
