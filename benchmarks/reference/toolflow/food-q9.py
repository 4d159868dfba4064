# f74ba76aac062b62
import json


def carbs(recipe):
    """In grams, as the search tells and as the nutrition does."""
    found = [one["amount"] for one in recipe["nutrition"]["nutrients"] if one["name"] == "Carbohydrates"]
    return [*found, float(GET_nutrition_by_id(recipe_id=recipe["id"])["carbs"].strip("g"))]


def fitting(query, least, most):
    recipes = GET_search_recipes(query=query)["results"][:5]
    return [recipe for recipe in recipes if any(least <= grams <= most for grams in carbs(recipe))] or recipes


wanted = []
for query in ("pizza", "pasta"):
    recipes = fitting(query, 10, 50)
    tools, tastes = [], []
    for recipe in recipes:
        tools += [tool["name"] for tool in GET_equipment_by_id(recipe_id=recipe["id"])["equipment"]]
        taste = GET_taste_by_id(recipe_id=recipe["id"])
        tastes += [value for value in taste.values() if isinstance(value, (int, float)) and value > 1]
    wanted += [[recipe["title"] for recipe in recipes], sorted(set(tools)), sorted(set(tastes))]
print(json.dumps({"all": [some for some in wanted if some]}))
