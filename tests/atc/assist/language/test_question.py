"""What a question says about the calls that answer it, beyond the words that it shares with them."""

from __future__ import annotations

import pytest

from atc.assist.language.question import Question


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Who made Dune?", ["Who made Dune"]),
        (
            "Find a museum in Oslo. Also, tell me when it opens, and which days are free?",
            ["Find a museum in Oslo", "Also, tell me when it opens", "which days are free"],
        ),
        ("Oslo", ["Oslo"]),
        (
            "Say which dish has the least salt and which one is quickest to cook",
            ["Say which dish has the least salt", "which one is quickest to cook"],
        ),
    ],
)
def test_a_long_question_has_parts(text: str, parts: list[str]) -> None:
    assert [part.strip(" ,?") for part in Question(text).parts] == parts


def test_whose_a_thing_is_which_one_and_how_many() -> None:
    """As plain words say it; what is not said is not made up."""
    question = Question("Name three songs by Ana Bell from the second album, and two concerts")

    assert ("song" in question.owned, "album" in question.owned) == (True, False)
    assert question.ordinals == {"album": 2}
    assert (question.count_of("song"), question.count_of("concert"), question.count_of("album")) == (3, 2, 0)
    assert Question("a pasta recipe, a rice recipe and the wine").qualifiers("recipe") == ("pasta", "rice")
    assert Question("the latest film, the first film and an old film").qualifiers("film") == ("old",)
    assert "film" in Question("What is Ana Bell's latest film about?").owned
    assert "film" in Question("What is the latest film of Ana Bell about?").owned
    assert "film" not in Question("List the films of Ana Bell").owned


@pytest.mark.parametrize(
    ("text", "coordinates", "day"),
    [
        ("Is it windy at 59.91° N, 10.75° E?", ("59.91", "10.75"), None),
        ("Rain at 33.9 S 18.4 W on 3 April 2023?", ("-33.9", "-18.4"), "2023-04-03"),
        ("Rain at -33.9, 18.4 on Apr. 3rd, 2023?", ("-33.9", "18.4"), "2023-04-03"),
        ("From 2023-04-03 to 2023-04-05", None, None),
        ("Was 2023-04-03 a Monday?", None, "2023-04-03"),
    ],
)
def test_where_and_when(text: str, coordinates: tuple[str, str] | None, day: str | None) -> None:
    """Only what is said in full; of two days neither."""
    question = Question(text)

    assert (question.coordinates, question.day) == (coordinates, day)


def test_a_question_may_speak_of_a_day_without_giving_one() -> None:
    dated = [
        "Was it warmer on 2023-04-03 or on 2023-04-04?",
        "What was the weather on this day?",
        "How much rain fell in March?",
    ]
    assert all(Question(text).dated for text in dated)
    assert not Question("May I see the weather in Oslo?").dated


@pytest.mark.parametrize(
    ("text", "noun", "name"),
    [
        ('Who made the film "Dusk"?', "film", "Dusk"),
        ("When was Ana Bell born?", "person", "Ana Bell"),
        ("Did Ana Bell act in the film Dusk?", "film", "Dusk"),
        ("Did Ana Bell act in Dusk?", "film", None),
        ("Which film is the best?", "film", None),
    ],
)
def test_what_a_thing_is_called(text: str, noun: str, name: str | None) -> None:
    assert Question(text).name_of(noun) == name


@pytest.mark.parametrize(
    ("text", "called", "artist"),
    [
        ('Rename my first list to "Dusk"', "Dusk", "Dusk"),
        ('Change the name of the list Old Days to "New Days"', "New Days", "Old Days"),
        ('Put the songs of Ana Bell into a new list named "Love Ana"', "Love Ana", "Ana Bell"),
    ],
)
def test_what_a_thing_is_to_be_called_is_nobodys_name(text: str, called: str, artist: str) -> None:
    """Unless there is no other."""
    assert (Question(text).new_name, Question(text).name_of("artist")) == (called, artist)


def test_what_is_a_name_and_what_is_an_order() -> None:
    """`Take the first` names nobody, and a name with a small word inside is not cut there."""
    assert [name.text for name in Question("Take the first film of Ana Bell.").names] == ["Ana Bell"]
    assert Question("Who is the curator of the exhibition Made by Hand?").name_of("exhibition") is None
    assert Question("In which room does Ferry at Dusk hang?").name_of("artwork") == "Ferry at Dusk"
    assert Question("In which room do Dusk and Dawn hang?").name_of("artwork") is None
    assert Question("On which floor is room W2?").code_of("room") == "W2"
    assert Question("Make a list of three films by Ana Bell and name it 'Dusk'").new_name == "Dusk"
    assert Question("Make a list of films by Ana Bell").new_name is None
    assert Question("Who is in the second season?").code_of("season") is None


@pytest.mark.parametrize(
    ("query", "is_request"),
    [
        ("Which film is the best?", True),
        ("I would like to know who made it.", True),
        ("Show me the films.", True),
        ("I want it off my list.", False),
        ("Put it on my list.", False),
        ("Please describe it and name the films that are like it.", True),
        ("Find a film and others that are like it.", True),
        ("Can you tell me which is the newest and put it on my list?", False),
        ("Tell me who was in St. Elsewhere", True),
        ('Who sings "Help! Stop the train."?', True),
        ("Who directed it and wrote the book?", True),
        ("Tell me the newest film and put all its actors on my list", False),
        ("Could you stop the music for a moment?", False),
        ("Could you please tell me who made it?", True),
        ("Take it off my list, will you?", False),
        ("Which film is on now? Put it on my list.", False),
        ("What is playing, and on which device? If it is too loud, turn it down.", False),
        ("Find the newest film and add it to my list", False),
        ("Find the newest film and tell me the year it was made in", True),
        ("I liked that film. Which ones are like it?", True),
        ("I like this one, please put it on my list.", False),
    ],
)
def test_who_wants_to_be_told_and_who_wants_it_done(query: str, is_request: bool) -> None:
    assert Question(query).is_information_request is is_request


@pytest.mark.parametrize(
    ("query", "verbs"),
    [
        ("Play the newest song", ["play"]),
        ("Please stop it, and then start the next one.", ["stop", "start"]),
        ("Could you turn it down? It is late.", ["turn"]),
        ("Find the newest film and add it to my list", ["add"]),
        ("Which film is on now? Put it on my list.", ["put"]),
        ("What is on now, and who made it?", []),
        ('Who sings "Play it again"?', []),
    ],
)
def test_what_is_to_be_done_is_told_by_its_verbs(query: str, verbs: list[str]) -> None:
    assert list(Question(query).requested_actions) == verbs
