"""What is asked of several items is done for each, and the one that is meant is taken."""

from __future__ import annotations

import pytest

from protocols import load
from protocols.dataflow.graph import ProtocolGraph
from tests.atc.assist.planning.sketches import document, graph, lines, plan_sketches


def test_several_items_are_looped_over() -> None:
    """Named one by one, or counted; plans that begin alike are merged, with a variable for each call."""
    tools = ["GET_films_filmId_credits", "GET_films_filmId_reviews"]
    names = [cinema_tool.name for cinema_tool in graph("cinema").protocol.tools]

    def written(question: str) -> str:
        (text,) = plan_sketches(graph("cinema"), tools, names, question)
        return text

    named = written("Who acted in a crime film and a drama film, and how are they reviewed?")
    counted = written("Who acted in the three films about Mars, and how are they reviewed?")
    assert named.split("\n")[:3] == [
        'for name in ["crime", "drama"]:',
        '    film = GET_films(query=name)["films"][0]',
        '    credits = GET_films_filmId_credits(filmId=film["filmId"])',
    ]
    assert counted.startswith('for film in GET_films(query="Mars")["films"][:3]:\n    credits = ')
    assert written("Who acted in Dune?").startswith('film = GET_films(query="Dune")["films"][0]\ncredits = ')
    assert written("Who acted in Dune and Dusk?").startswith(
        'for name in ["Dune", "Dusk"]:\n    film = GET_films(query=name)["films"][0]\n    credits = '
    )


def test_a_loop_begins_where_its_items_are_found() -> None:
    """Also after other steps; no step repeats an earlier call."""
    names = [parcel_tool.name for parcel_tool in graph("parcels").protocol.tools]
    (text,) = plan_sketches(
        graph("parcels"),
        ["GET_drivers_driverId", "GET_parcels_trackingNumber"],
        names,
        "Which drivers have the first three parcels of Odd Larsen?",
    )

    assert text.split("\n") == [
        'customer = GET_customers(name="Odd Larsen")["customers"][0]',
        'for tracking in GET_customers_customerId_parcels(customerId=customer["customerId"])["parcels"][:3]:',
        '    driver = GET_parcels_trackingNumber(trackingNumber=tracking["trackingNumber"])',
        '    details = GET_drivers_driverId(driverId=driver["driverId"])',
    ]


def test_how_many_ends_with_the_list() -> None:
    """No step reads the first item."""
    names = [parcel_tool.name for parcel_tool in graph("parcels").protocol.tools]
    tools = ["GET_depots_depotCode", "GET_depots"]

    assert plan_sketches(graph("parcels"), tools, names, "How many depots are in Bergen?") == (
        'depots = GET_depots()["depots"]',
    )
    assert "[0]" in plan_sketches(graph("parcels"), tools, names, "How many parcels hold the depots?")[0]


def test_a_plan_that_removes_is_not_merged() -> None:
    """A step after it would read a removed entity. An update has a placeholder for its content."""
    names = [museum_tool.name for museum_tool in graph("museum").protocol.tools]
    targets = ["DELETE_tickets_ticket_id", "GET_tickets_ticket_id"]
    removed, read = plan_sketches(graph("museum"), targets, names, "Give back the first of my tickets for Dusk.")

    assert removed.split("\n")[-1] == 'DELETE_tickets_ticket_id(ticket_id=ticket["ticket_id"])'
    assert "DELETE" not in read
    assert lines("parcels", "PATCH_parcels_trackingNumber")[-1].endswith('instructions="…")')


def kitchen() -> ProtocolGraph:
    """Meals, what they are made of, and what they cost; the tide tables of harbours."""
    number, text = {"type": "integer"}, {"type": "string"}

    def listed(**properties: object) -> dict[str, object]:
        return {"type": "array", "items": {"type": "object", "properties": properties}}

    def given(name: str, where: str = "path", schema: object = number) -> dict[str, object]:
        return {"in": where, "name": name, "required": where == "path", "schema": schema}

    meals = {"type": "object", "properties": {"meals": listed(id=number, title=text)}}
    parts = {"type": "object", "properties": {"ingredients": listed(name=text)}}
    price = {"type": "object", "properties": {"totalCost": {"type": "number"}, "portions": number}}
    taste = {"type": "object", "properties": {"sweetness": {"type": "number"}, "saltiness": {"type": "number"}}}
    wind = {"type": "object", "properties": {"angle": number, "speed": {"type": "number"}}}
    days = {"type": "object", "properties": {"days": listed(day=text, temperature={"type": "number"}, wind=wind)}}
    nutrients = [given(name, "query") for name in ("minProtein", "maxCalories", "maxCarbs", "minSugar")]
    return ProtocolGraph(
        load(
            document(
                "Kitchen",
                {
                    "/meals/search": ([given("query", "query", text)], meals),
                    "/meals/by_nutrients": (nutrients, meals),
                    "/meals/{meal_id}/ingredients": ([given("meal_id")], parts),
                    "/meals/{meal_id}/price": ([given("meal_id")], price),
                    "/meals/{meal_id}/taste": ([given("meal_id")], taste),
                    "/weather/daily": ([], days),
                },
            )
        )
    )


def of_kitchen(query: str, *tools: str) -> list[str]:
    api = kitchen()
    sketches = plan_sketches(api, tools, [callable_tool.name for callable_tool in api.protocol.tools], query, tools)
    return sketches[0].split("\n")


def test_a_limit_is_no_comparison() -> None:
    """`at least` and `more than` limit an amount, and nothing is collected."""
    for query in (
        "Get two meals and their ingredients",
        "Get two meals with more than 3 portions, at most 5 dollars",
    ):
        sketch = of_kitchen(query, "GET_meals_meal_id_ingredients", "GET_meals_meal_id_price")
        assert sketch[0].startswith("for meal in ")
        assert "best" not in "".join(sketch)


def test_limits_of_a_question_are_arguments() -> None:
    """A question without a name leads to the tool that takes the limits."""
    sketch = of_kitchen(
        "Give me two meals with at least 15 grams of protein, at most 500 calories and up to 30 g of carbohydrates.",
        "GET_meals_meal_id_price",
    )
    finder = "GET_meals_by_nutrients(minProtein=15, maxCalories=500, maxCarbs=30)"
    assert sketch[0] == f'for meal in {finder}["meals"][:2]:'

    named = of_kitchen("How much is a curry meal with at least 15 grams of protein?", "GET_meals_meal_id_price")
    assert named[0] == 'meal = GET_meals_search(query="curry")["meals"][0]'


def test_a_search_with_a_placeholder_is_dropped_beside_a_complete_plan() -> None:
    """A small model would copy `…`."""
    api, query = kitchen(), "How much is a curry meal?"
    names = [callable_tool.name for callable_tool in api.protocol.tools]
    (sketch,) = plan_sketches(api, ["GET_meals_meal_id_price", "GET_meals_search"], names, query, ["GET_meals_search"])
    assert sketch.startswith('meal = GET_meals_search(query="curry")')

    untold = plan_sketches(api, ["GET_meals_search"], names, "Which meals are there?", ["GET_meals_search"])
    assert untold == ('search = GET_meals_search(query="…")["meals"]',)


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("Which one has fewer ingredients?", 'best = min(meals, key=lambda one: len(one["ingredients"]))'),
        ("Which has the lower total cost?", 'best = min(meals, key=lambda one: one["price"]["totalCost"])'),
    ],
)
def test_compared_values_are_collected(query: str, best: str) -> None:
    """A loop collects the responses for each item; the best item follows."""
    question = f"Find a curry meal and a soup meal. {query}"

    assert of_kitchen(question, "GET_meals_meal_id_ingredients", "GET_meals_meal_id_price") == [
        "meals = []",
        'for name in ["curry", "soup"]:',
        '    meal = GET_meals_search(query=name)["meals"][0]',
        '    ingredients = GET_meals_meal_id_ingredients(meal_id=meal["id"])["ingredients"]',
        '    price = GET_meals_meal_id_price(meal_id=meal["id"])',
        '    meals.append({"meal": meal, "ingredients": ingredients, "price": price})',
        best,
    ]


def test_an_adjective_compares_by_the_field_of_its_name() -> None:
    sketch = of_kitchen("Which of two meals is sweeter?", "GET_meals_meal_id_taste")

    assert sketch[-1] == 'best = max(meals, key=lambda one: one["taste"]["sweetness"])'
