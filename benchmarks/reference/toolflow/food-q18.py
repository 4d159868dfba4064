# 3b20234bf0cf08bd
import json


def carbs(recipe):
    """In grams, as the search tells and as the nutrition does."""
    found = [one["amount"] for one in recipe["nutrition"]["nutrients"] if one["name"] == "Carbohydrates"]
    return [*found, float(GET_nutrition_by_id(recipe_id=recipe["id"])["carbs"].strip("g"))]


def fitting(query, least, most):
    recipes = GET_search_recipes(query=query)["results"][:5]
    return [recipe for recipe in recipes if any(least <= grams <= most for grams in carbs(recipe))] or recipes


choices = [fitting(query, 10, 50) for query in ("pasta", "rice", "steak")]
tools = {}
for recipe in [recipe for recipes in choices for recipe in recipes]:
    tools[recipe["id"]] = len(GET_equipment_by_id(recipe_id=recipe["id"])["equipment"])
most = min(max(tools[recipe["id"]] for recipe in recipes) for recipes in choices)
calories, costs = [], []
for recipe in [recipe for recipes in choices for recipe in recipes if tools[recipe["id"]] <= most]:
    calories += [one["amount"] for one in recipe["nutrition"]["nutrients"] if one["name"] == "Calories"]
    calories.append(int(GET_nutrition_by_id(recipe_id=recipe["id"])["calories"].strip("kcal ")))
    price = GET_Price_Breakdown_by_id(recipe_id=recipe["id"])
    costs += [price["totalCost"], round(price["totalCost"] / 100, 2)]
print(json.dumps({"all": [calories, costs]}))
