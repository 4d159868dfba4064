"""What a program surely means is put right without asking the model, and nothing else is."""

from __future__ import annotations

from atc import Agent
from benchmarks.tasks.datasets import open_dataset
from protocols import load
from protocols.samples import sample
from tests.local_api import LocalAPI
from tests.scripted import ScriptedModel


def test_nothing_is_written_that_the_model_did_not_write() -> None:
    """A variable that an example gets by a write is no reason to write."""
    protocol = open_dataset("tiny", None, ()).protocols["parcels"]
    model = ScriptedModel('print(tracking["trackingNumber"])', 'print(GET_customers(name="Olsen"))')
    with Agent(protocol, model=model, simulate=True) as agent:
        question = "Create a parcel for Olsen, to be left at the door"
        lines = "\n".join(agent.opening(question).sections)
        assert "tracking = POST_customers_customerId_parcels(" in lines
        solution = agent.solve(question)

    assert [attempt.stage for attempt in solution.attempts][:2] == ["check", "done"]
    assert all(call.method == "GET" for call in solution.calls)


def test_what_is_hidden_by_what_is_put_right_is_told() -> None:
    """A variable that a loop sets is begun with None, after which the checker no longer knows what it holds."""
    wrong = """for film in GET_films_top_rated()["films"][:2]:
    details = GET_films_filmId(filmId=film["filmId"])
print("Minutes:", sum([details["runtimeMinutes"] for details in details]))"""
    film = 'GET_films_filmId(filmId=GET_films_top_rated()["films"][0]["filmId"])'
    model = ScriptedModel(wrong, f'print("Minutes:", {film}["runtimeMinutes"])')
    with Agent(load(sample("cinema")), model=model, simulate=True) as agent:
        solution = agent.solve("How many minutes are the two best films?")

    assert "iterating over a dict gives its keys" in model.asked[1][-2].content
    assert solution.status == "answered"
    assert "run" not in [one.stage for one in solution.attempts]


def test_what_is_put_right_without_the_model_uses_up_no_revision(weather: LocalAPI) -> None:
    """And the last program, too, is put right where that can be done."""
    model = ScriptedModel('print(GET_citys(query="Oslo")["results"][5]["name"])', 'print(GET_citis(query="Oslo"))')

    solution = Agent(weather.protocol, model=model, max_reflections=1).solve("Which city?")

    assert [attempt.stage for attempt in solution.attempts] == ["check", "run", "check", "done"]
    assert [attempt.mended for attempt in solution.attempts] == [False, True, False, True]
    assert solution.reflections == 1
    assert solution.program == 'print(GET_cities(query="Oslo"))'


def test_a_variable_of_a_worked_example_is_taken_from_there() -> None:
    """A small model goes on from an example as if it had been run: its lines are put before the program."""
    rated = "print(film['title'])\nprint(credits['cast'][0]['name'])"
    first = 'film = GET_films_top_rated()["films"][0]\ncredits = GET_films_filmId_credits(filmId=film["filmId"])'
    model = ScriptedModel(rated)
    asked, tools = "Who acted in the top rated film?", ["GET_films_top_rated", "GET_films_filmId_credits"]
    with Agent(load(sample("cinema")), model=model, simulate=True) as agent:
        assert first in agent.opening(asked, tools).sections[0]
        solution = agent.solve(asked, tools=tools)
    assert (solution.status, solution.program) == ("answered", f"{first}\n{rated}")


def test_what_a_program_takes_as_run_is_put_before_it_whatever_else_is_wrong() -> None:
    """So the model is told of what is really wrong, and not of that; quotes that are no Python are put right first."""
    chain = 'film = GET_films(query="Dune")["films"][0]\ncredits = GET_films_filmId_credits(filmId=film["filmId"])\n'
    wrong = 'print(credits["actors"][0]["salary"])'
    model = ScriptedModel(wrong, f'{chain}print(credits["cast"][0]["name"])')
    with Agent(load(sample("cinema")), model=model, simulate=True) as agent:
        solution = agent.solve("Who acted in Dune?")

    assert [one.program for one in solution.attempts[:2]] == [wrong, f"{chain}{wrong}"]
    assert [one.stage for one in solution.attempts] == ["check", "check", "done"]
    assert "is not defined" not in model.asked[1][-2].content
    assert 'has no "actors"' in model.asked[1][-2].content
    assert (solution.status, solution.usage.model_calls) == ("answered", 2)

    quoted = chain + 'print(f"It is {credits["actors"][0]["name"]}")'
    model = ScriptedModel(quoted, f'{chain}print(credits["cast"][0]["name"])')
    with Agent(load(sample("cinema")), model=model, simulate=True) as agent:
        solution = agent.solve("Who acted in Dune?")

    assert solution.attempts[1].program == chain + "print(f\"It is {credits['actors'][0]['name']}\")"
    assert 'has no "actors"' in model.asked[1][-2].content
    assert (solution.status, solution.reflections) == ("answered", 1)


def test_what_is_surely_meant_is_mended_without_the_model() -> None:
    """A slip of the pen, a name where an identifier belongs, an object for its id: the model is not asked again."""
    slip = (
        'person = GET_people_personId(personId="Ana Bell")\n'
        "credits = GET_people_personId_credit(personId=person)\n"
        'print(len(credits["cast"]), person["birthDay"])'
    )
    with Agent(load(sample("cinema")), model=ScriptedModel(slip), simulate=True) as agent:
        solution = agent.solve("In how many films did Ana Bell act, and when was she born?")

    assert (solution.status, solution.reflections, solution.usage.model_calls) == ("answered", 0, 1)
    assert solution.program == (
        'person = GET_people_personId(personId=GET_people(query="Ana Bell")["people"][0]["personId"])\n'
        'credits = GET_people_personId_credits(personId=person["personId"])\n'
        'print(len(credits["cast"]), person["birthday"])'
    )
