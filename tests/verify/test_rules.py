"""An answer that is none, or one about something else, deserves a second look; one that only sounds so does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from atc.verify import inspect, is_unsupported, judge
from protocols import load
from protocols.dataflow.graph import ProtocolGraph
from protocols.samples import sample
from sandbox import CallRecord, Resources, Run
from sandbox.records import Provenance, Source

GRAPH = ProtocolGraph(load(sample("cinema")))


def call(
    tool: str = "GET_films",
    response: object = None,
    status: int | None = 200,
    line: int = 1,
    index: int = 0,
    **arguments: object,
) -> CallRecord:
    """A call as a run records it."""
    error = None if status is not None and status < 400 else f"{tool}: {status} \u2014 there is no such thing"
    method = tool.partition("_")[0]
    url = "https://cinema.example.com/api/films"
    return CallRecord(index, tool, method, url, arguments, line, status, 1.0, 1, "function", response, error)


def run(text: str, *calls: CallRecord, printed: tuple[Source, ...] | None = None) -> Run:
    """A run that printed this; without `printed` nobody followed its values."""
    numbered = tuple(replace(record, index=place) for place, record in enumerate(calls))
    provenance = None if printed is None else Provenance(printed=printed)
    return Run("ok", text, "", None, numbered, Resources(0.1, 0.1, 10.0, len(text)), provenance=provenance)


def printed(text: str, *statuses: int, method: str = "GET") -> Run:
    """A run whose calls were answered so."""
    return run(text, *(call(f"{method}_films", {}, status) for status in statuses))


def kinds(program: str, finished: Run, query: str) -> list[str]:
    """The kinds of what is found."""
    return [finding.kind for finding in inspect(program, finished, query, GRAPH)]


def exact(*path: str | int, at: int = 0) -> Source:
    """That a value lies there."""
    return Source(at, path, "exact")


# What is printed


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "None",
        "{}",
        "No movies found.",
        "Nothing",
        "The director could not be found",
        "Cast: []",
        "Director: None",
    ],
)
def test_nothing_is_doubted(text: str) -> None:
    """Who says that there is nothing is asked whether that is so."""
    assert kinds("", printed(text + "\n", 200), "Who made it?") == ["NothingFound"]


@pytest.mark.parametrize(
    "text",
    ["Fail Safe (1964)", "No Country for Old Men was directed by Joel Coen", "7", "0", "['a']", "No one: 3\nHim: 2"],
)
def test_answers_are_taken(text: str) -> None:
    """Titles and names may hold words that also say that there is nothing."""
    assert kinds("", printed(text + "\n", 200), "Who made it?") == []


@pytest.mark.parametrize(
    ("query", "text", "doubted"),
    [
        ("shows that are similar to House of Cards", "House of Cards", True),
        ("shows that are similar to House of Cards", "House of Cards\nBillions", False),
        ("Which is older, Dune or Solaris?", "Solaris", False),
        ("Which of Oslo and Bergen is warmer?", "Oslo", False),
        ("Does it rain in Oslo?", "rain", False),
        ("How often do 2 Lost Sailors appear?", "2", False),
    ],
)
def test_the_words_of_the_question_are_no_answer(query: str, text: str, doubted: bool) -> None:
    """Unless it asks to choose among them."""
    findings = [finding.kind for finding in inspect("", printed(text + "\n", 200), query)]

    assert ("NothingNew" in findings) is doubted


@pytest.mark.parametrize(
    ("query", "arguments", "doubted"),
    [
        ("What is on today?", {"page": 1}, False),
        ("Who made today?", {"query": "today"}, True),
        ("Who made the film Today?", {"page": 1}, True),
    ],
)
def test_a_thing_may_be_called_like_a_word_of_the_question(
    query: str, arguments: dict[str, Any], doubted: bool
) -> None:
    """Where it was not looked for by that word, and the question does not name it."""
    finished = run(
        "Today\n", call(response={"films": [{"title": "Today"}]}, **arguments), printed=(exact("films", 0, "title"),)
    )

    assert ("NothingNew" in kinds("", finished, query)) is doubted


@pytest.mark.parametrize(
    ("query", "text", "doubted"),
    [
        ("How many films are there?", "Dune, Solaris", True),
        ("How many films are there?", "There are seven.", False),
        ("When was it made?", "In France", True),
        ("When was it made?", "1972-03-20", False),
        ("On which day of the week is it shown?", "Monday", False),
    ],
)
def test_a_number_or_a_date_is_wanted(query: str, text: str, doubted: bool) -> None:
    """A question for one is not answered with something else."""
    assert ("WrongKind" in kinds("", printed(text, 200), query)) is doubted


def test_an_identifier_is_no_name() -> None:
    """What identifies a thing answers only who asked for that."""
    record = call(response={"films": [{"filmId": 41, "title": "The Silent Harbor"}]})
    finished = run("41", record, printed=(exact("films", 0, "filmId"),))

    assert kinds("print(41)", finished, "Which film is the best one?") == ["WrongKind"]
    assert kinds("print(41)", finished, "Which id has the best film?") == []
    coded = run("W2", call(response={"room_code": "W2", "title": "Dune"}), printed=(exact("room_code"),))
    assert kinds("print('W2')", coded, "What is the room called?") == ["WrongKind"]
    assert kinds("print('W2')", coded, "Which room is it?") == []


@pytest.mark.parametrize(
    ("text", "doubted"),
    [
        ("Ana: 1,200 g\nBen: 800 g", True),
        ("Ana: 1,200 g\nBen: 800 g\nTogether: 2,000 g", False),
        ("1200\n800", True),
        ("2000", False),
        ("Parcels of Ana and Ben:\n2000", False),
    ],
)
def test_one_number_is_wanted_of_all(text: str, doubted: bool) -> None:
    query = "How many grams do the parcels of Ana and Ben weigh together?"

    assert ("WrongKind" in kinds("", printed(text, 200), query)) is doubted
    assert "WrongKind" in kinds("", printed("3.5\n4", 200), "What are the fees of both in all?")


def test_which_one_it_is_no_number_tells() -> None:
    """Neither does the most of something tell of what it is the most; who asks how many is content with it."""
    works = [{"work_id": 3, "title": "Dusk", "insured_for": 90_000}]
    dear = run("For 90000 euros", call(response={"works": works}), printed=(exact("works", 0, "insured_for"),))
    named = run(
        "Dusk, for 90000 euros",
        call(response={"works": works}),
        printed=(exact("works", 0, "title"), exact("works", 0, "insured_for")),
    )
    query = "Of the first three works, which one is insured for the most, and for how many euros?"

    assert kinds("print(90000)", dear, query) == ["WrongKind"]
    assert kinds("print(90000)", named, query) == []
    assert kinds("print(90000)", dear, "For how many euros is the work which hangs in W2 insured?") == []


@pytest.mark.parametrize("title", ["Unknown", "Nothing Else Matters", "Failure to Launch", "Sorry", "No tears left"])
def test_a_title_may_sound_like_a_failure(title: str) -> None:
    """What stands in a reply is no mere word of the program; a message of the service is no title."""
    called = run(title, call(response={"films": [{"title": title}]}), printed=(exact("films", 0, "title"),))
    message = run("Not found", call(response={"message": "Not found"}), printed=(exact("message"),))

    assert kinds("", called, "What is the best one called?") == []
    assert "NothingFound" in kinds("", message, "What is the best one called?")


@pytest.mark.parametrize("value", [[], {}])
def test_what_is_printed_and_is_no_text_may_be_empty(value: object) -> None:
    finished = run("No films found", call(response={"films": value}), printed=(exact("films"),))
    assert kinds("", finished, "Which films are there?") == ["NothingFound"]


def test_none_in_a_sentence() -> None:
    """A value that is null is not what was asked for; null among the data of an object may be."""
    record = call(response={"name": "Ana Bell", "died": None})
    program = 'person = GET_films()\nprint("She died on", person["died"])'
    in_words = run("She died on None", record, printed=(exact("died"),))
    in_data = run("{'name': 'Ana Bell', 'died': None}", record, printed=(exact(),))

    assert "NothingFound" in kinds(program, in_words, "Where did she live?")
    assert kinds("print(GET_films())", in_data, "Where did she live?") == []


def test_silence_is_no_answer() -> None:
    fault = judge("x = 1", printed("  \n", 200))

    assert fault is not None
    assert (fault.stage, fault.type) == ("answer", "NoOutput")


def test_a_print_that_was_never_reached_is_named() -> None:
    fault = judge("for one in []:\n    print(one)", printed("", 200))

    assert fault is not None
    assert "the print() on line 2 was never reached" in fault.message


# What it rests on


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
    (finding,) = inspect("", read, "Put the best film on my watchlist", GRAPH)

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
    findings = inspect(program, run("Dune: 155", call("GET_films_filmId", reply)), "What about Dune?", GRAPH)

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

    (finding,) = inspect(f'{credits}print("Reviews:", len(credits))', finished, "How many reviews has Dune?", GRAPH)
    assert (finding.kind, finding.line) == ("Mislabelled", 2)
    assert (
        finding.message
        == 'line 2 says reviews and prints len(credits); print the "reviews" of GET_films_filmId_reviews'
    )
    listed = f'told = []\n{credits}for one in credits:\n    told.append(one["name"])\nprint("Reviews:", len(told))'
    assert kinds(listed, finished, "How many reviews has Dune?") == []
    right = credits.replace("credits =", "reviews =")
    assert kinds(f'{right}print("Reviews:", len(reviews))', finished, "How many reviews has Dune?") == []


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
    findings = inspect(program, run("Dune: 8.1", call("GET_films_filmId", reply)), "What about Dune?", GRAPH)

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
    findings = inspect(program, run(text, call("GET_films_filmId", reply)), query, GRAPH)

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
    assert not is_unsupported(replace(printed(text, 204, method="PUT"), provenance=Provenance()))
    assert is_unsupported(replace(printed(text, 200), provenance=Provenance()))


def test_an_error_that_was_swallowed_is_told_with_its_call() -> None:
    """The finding names line and call; a failure that another call made good is none."""
    good, bad = call(response={"films": []}), call("GET_films_filmId", {"message": "gone"}, 404, line=4, filmId=9)
    program = "GET_films()\ntry:\n    film = 1\n    GET_films_filmId(filmId=9)\nexcept Exception:\n    pass\nprint(7)"
    findings = inspect(program, run("7", good, bad), "How long is it?", GRAPH)

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


# What the question is about

FOUND: Mapping[str, object] = {
    "films": [{"filmId": 7, "title": "The Silent Harbor II"}, {"filmId": 41, "title": "The Silent Harbor"}]
}


def taken(position: int) -> Run:
    """A run that searched, took one of two films, and printed something of that."""
    search = call(response=FOUND, query="The Silent Harbor")
    film = FOUND["films"][position]["filmId"]  # type: ignore[index]
    details = call("GET_films_filmId", {"runtimeMinutes": 112}, line=2, filmId=film)
    argument_sources = {1: {"filmId": (exact("films", position, "filmId"),)}}
    provenance = Provenance(arguments=argument_sources, printed=(exact("runtimeMinutes", at=1),))
    return replace(run("112", search, details), provenance=provenance)


def test_another_thing_of_nearly_the_same_name() -> None:
    """Of two films that a search found, the one that is called so is meant."""
    program = 'film = GET_films(query="The Silent Harbor")["films"][0]\nprint(film)'
    findings = inspect(program, taken(0), "How long is The Silent Harbor?", GRAPH)

    assert [(finding.kind, finding.call, finding.path) for finding in findings] == [("OtherEntity", 0, ("films", 0))]
    assert "take ['films'][1]" in findings[0].message
    assert kinds(program, taken(1), "How long is The Silent Harbor?") == []


def test_a_search_that_found_something_else() -> None:
    """What has a name is to share a word with the one that was looked for; what lies in a place need not."""
    films = {"films": [{"filmId": 9, "title": "Engines of Autumn"}]}
    sources = (exact("films", 0, "title"),)
    searched = run("Engines of Autumn", call(response=films, query="Salt Road"), printed=sources)
    filtered = run("Engines of Autumn", call(response=films, city="Salt Road"), printed=sources)

    finding_kinds = kinds('print(GET_films(query="Salt Road")["films"][0])', searched, "How good is Salt Road?")
    assert finding_kinds == ["OtherEntity"]
    assert kinds('GET_films(city="Salt Road")', filtered, "Which film is shown in Salt Road?") == []


def test_a_slip_in_a_small_word_of_a_name() -> None:
    """What is sent has to be what the question says, also where its great words are right."""
    record = call(response={"films": [{"filmId": 9, "title": "Made y Hand"}]}, query="Made y Hand")
    finished = run("Made y Hand", record, printed=(exact("films", 0, "title"),))

    findings = inspect('GET_films(query="Made y Hand")', finished, "How good is Made by Hand?", GRAPH)
    assert findings[0].message.endswith("write 'Made by Hand' there")


def test_the_beginning_of_a_sentence_is_no_name() -> None:
    record = call(response={"films": [{"filmId": 9, "title": "Dusk"}]}, diet="High protein")
    finished = run("Dusk", record, printed=(exact("films", 0, "title"),))

    query = "Show me a film. The protein in it should be high."
    assert kinds('GET_films(diet="High protein")', finished, query) == []


def test_two_names_are_not_one() -> None:
    """Unless the question itself takes them for one."""
    record = call(
        "GET_people", {"people": [{"personId": 1, "name": "Ana Bell and Bo Carr"}]}, query="Ana Bell and Bo Carr"
    )
    program = 'print(GET_people(query="Ana Bell and Bo Carr")["people"][0])'
    finished = run("{'personId': 1}", record, printed=(exact("people", 0),))

    assert kinds(program, finished, "How old are Ana Bell and Bo Carr?") == ["OtherEntity"]
    assert kinds(program, finished, "Who is in 'Ana Bell and Bo Carr'?") == []


def test_a_search_that_leads_nowhere() -> None:
    """Of what was searched for, something has to come into the answer, or into what is written."""
    search = call("GET_people", {"people": [{"personId": 1, "name": "Ana Bell"}]}, query="Ana Bell")
    program = 'person = GET_people(query="Ana Bell")["people"][0]\nprint(GET_films_top_rated()["films"][0]["title"])'
    top = call("GET_films_top_rated", {"films": [{"title": "Dune"}]}, line=2)
    finished = run("Dune", search, top, printed=(exact("films", 0, "title", at=1),))

    findings = inspect(program, finished, "What is the best film of Ana Bell?", GRAPH)
    assert [(finding.kind, finding.line, finding.call) for finding in findings] == [("OtherEntity", 1, 0)]
    used = replace(finished, provenance=Provenance(printed=(exact("people", 0, "name"),)))
    assert kinds(program, used, "What is the best film of Ana Bell?") == []


def test_an_argument_in_words_names_nothing() -> None:
    """`the Film Id "f1"` asks for f1 and for nothing that is called Film Id."""
    details = call("GET_films_filmId", {"filmId": "f1", "title": "Dune"}, filmId="f1")
    finished = run("Dune", details, printed=(exact("title"),))

    program = 'print(GET_films_filmId(filmId="f1")["title"])'
    assert kinds(program, finished, 'What is the title of the film with the Film Id "f1"?') == []
    assert kinds(program, finished, 'What is the title of the film with the Reel Id "f1"?') == ["OtherEntity"]


def test_a_name_that_the_program_uses_nowhere() -> None:
    """It is told what to write instead of what it asked for; a name that the data bear is used."""
    record = call(response={"people": [{"personId": 1, "name": "Bo Carr"}]}, query="Bo Carr")
    finished = run("1950-01-01", record, printed=(exact("people", 0, "name"),))
    findings = inspect('GET_people(query="Bo Carr")', finished, "When was Ana Bell born?", GRAPH)

    assert findings[0].kind == "OtherEntity"
    assert findings[0].message == (
        "the program asks for 'Bo Carr', and the question is about 'Ana Bell'; write 'Ana Bell' there"
    )
    program = 'GET_people(query="Bo Carr")\nprint("Ana Bell was born on", 1950)'
    assert kinds(program, replace(finished, stdout="Ana Bell was born on 1950"), "When was Ana Bell born?") == [
        "OtherEntity"
    ]
    assert kinds("GET_me()", finished, "When was Bo Carr born?") == []
    assert kinds('GET_me()\nregion = "US"', finished, "Which film did Bo Carr make in the United States?") == []


def test_an_identifier_that_nobody_gave() -> None:
    """It must stand in the question or in a reply."""
    record = call("GET_films_filmId", {"title": "Dune", "runtimeMinutes": 155}, filmId=4127)
    finished = run("155", record, printed=(exact("runtimeMinutes"),))

    assert kinds('GET_films_filmId(filmId=4127)["runtimeMinutes"]', finished, "How long is it?") == ["OtherEntity"]
    assert kinds('GET_films_filmId(filmId=4127)["runtimeMinutes"]', finished, "How long is film 4127?") == []


# All of a list

PART = {"page": 1, "totalPages": 5, "totalCount": 96, "films": [{"title": "Dune", "rating": 8.0}] * 20}


@pytest.mark.parametrize(
    ("program", "query", "doubted"),
    [
        ('print(len(GET_films()["films"]))', "How many films are there?", True),
        (
            'films = GET_films()["films"]\nprint(max(films, key=len)["title"])',
            "Which film has the longest title?",
            True,
        ),
        ('for film in GET_films()["films"]:\n    print(film["title"])', "List all films", True),
        ('print(GET_films()["totalCount"])', "How many films are there?", False),
        ('print(GET_films()["films"][0]["title"])', "Which film is the best of all?", False),
        ('for film in GET_films()["films"][:3]:\n    print(film["title"])', "Show all of the first three", False),
        ('for film in GET_films()["films"][:30]:\n    print(film["title"])', "Show the first 30 films", True),
        ('for film in GET_films()["films"]:\n    print(film["title"])', "Show the first 3 films", False),
        ('for film in GET_films()["films"]:\n    print(film["title"])', "Show me some films", False),
    ],
)
def test_a_page_is_not_the_list(program: str, query: str, doubted: bool) -> None:
    """It matters where the program goes through it and the question is about all of it."""
    path = ("totalCount",) if "totalCount" in program else ("films",)
    finished = run("20 Dune", call(response=PART), printed=(Source(0, path, "made"),))

    assert ("FirstPage" in kinds(program, finished, query)) is doubted


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
    ],
)
def test_replies_say_in_several_ways_that_there_is_more(around: Mapping[str, object], is_partial: bool) -> None:
    """A total, a number of pages, something that leads on."""
    finished = run("2", call(response={"items": [1, 2], **around}), printed=(Source(0, ("items",), "made"),))

    assert ("FirstPage" in kinds('print(len(GET_films()["items"]))', finished, "How many are there?")) is is_partial


def test_all_pages_together_are_the_list() -> None:
    """Who asks for each page has read all of them."""
    pages = [call(response={"page": n, "totalPages": 3, "films": [n]}, page=n, line=3) for n in (1, 2, 3)]
    program = 'films = []\nfor n in range(1, 4):\n    films += GET_films(page=n)["films"]\nprint(len(films))'
    sources = (Source(0, ("films",), "made"),)

    assert kinds(program, run("3", *pages, printed=sources), "How many films are there?") == []
    assert kinds(program, run("2", *pages[:2], printed=sources), "How many films are there?") == ["FirstPage"]


# No

DEPOTS = {"depots": [{"city": "Bergen", "name": "Harbour"}, {"city": "Lisbon", "name": "East"}]}


@pytest.mark.parametrize(
    ("compared", "text", "doubted"),
    [
        ('depot["city"] == "bergen"', "0", True),
        ('depot["name"] == "Bergen"', "0", True),
        ('depot.get("town") == "Bergen"', "0", True),
        ('depot["city"] == "Oslo"', "0", False),
        ('depot["city"] == "bergen"', "4", False),
    ],
)
def test_a_slip_makes_a_list_empty(compared: str, text: str, doubted: bool) -> None:
    """Nothing passes a filter that is spelt otherwise than the data; whose answer is not empty is not asked."""
    program = f'print(len([depot for depot in GET_depots()["depots"] if {compared}]))'
    record = call("GET_depots", DEPOTS)
    finished = run(text, record, printed=(Source(0, ("depots",), "made"),))
    query = "How many depots are in Oslo?" if "Oslo" in compared else "How many depots are in Bergen?"

    assert kinds(program, finished, query) == (["EmptyForNegative"] if doubted else [])


def test_a_search_with_a_word_that_nobody_said() -> None:
    """What was not found because it is misspelt is named as it is in the question."""
    record = call("GET_people", {"people": []}, query="Anna Bel")
    program = 'found = GET_people(query="Anna Bel")["people"]\nprint("Yes" if found else "No")'
    finished = run("No", record, printed=(Source(0, ("people",), "decided"),))

    assert "OtherEntity" in kinds(program, finished, "Is Ana Bell known?")
    finding = next(
        finding for finding in inspect(program, finished, "Is Ana Bell known?") if finding.kind == "EmptyForNegative"
    )
    assert finding.message.endswith("ask with 'Ana Bell'")


def test_a_deep_program_is_no_trouble() -> None:
    """Whatever a program is like, its inspection ends."""
    program = f"print(len({'+'.join(['x'] * 900)}))"

    assert kinds(program, printed("9", 200), "How many are there?") == []
