# ca3b541fb547fc4b
import json


def carbs(recipe):
    """In grams, as the search tells and as the nutrition does."""
    found = [one["amount"] for one in recipe["nutrition"]["nutrients"] if one["name"] == "Carbohydrates"]
    return [*found, float(GET_nutrition_by_id(recipe_id=recipe["id"])["carbs"].strip("g"))]


def fitting(query, least, most):
    recipes = GET_search_recipes(query=query)["results"][:5]
    return [recipe for recipe in recipes if any(least <= grams <= most for grams in carbs(recipe))] or recipes


choices = [fitting(query, 5, 80) for query in ("steak", "pasta")]
tools, parts = {}, {}
for recipe in [*choices[0], *choices[1]]:
    tools[recipe["id"]] = [tool["name"] for tool in GET_equipment_by_id(recipe_id=recipe["id"])["equipment"]]
    parts[recipe["id"]] = len(GET_ingredients_by_id(recipe_id=recipe["id"])["ingredients"])
counts = set()
for steak in choices[0]:
    for pasta in choices[1]:
        fewer = min(len(tools[steak["id"]]), len(tools[pasta["id"]]))
        counts |= {parts[one["id"]] for one in (steak, pasta) if len(tools[one["id"]]) == fewer}
wanted = [[recipe["title"] for recipe in recipes] for recipes in choices]
wanted += [sorted({tool for recipe in recipes for tool in tools[recipe["id"]]}) for recipes in choices]
print(json.dumps({"all": [some for some in [*wanted, sorted(counts)] if some]}))
