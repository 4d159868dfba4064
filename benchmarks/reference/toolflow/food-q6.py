# aea26b44c6a2513c
import json


def carbs(recipe):
    """In grams, as the search tells and as the nutrition does."""
    found = [one["amount"] for one in recipe["nutrition"]["nutrients"] if one["name"] == "Carbohydrates"]
    return [*found, float(GET_nutrition_by_id(recipe_id=recipe["id"])["carbs"].strip("g"))]


def fitting(query, least, most):
    recipes = GET_search_recipes(query=query)["results"][:5]
    return [recipe for recipe in recipes if any(least <= grams <= most for grams in carbs(recipe))] or recipes


choices = [fitting(query, 10, 50) for query in ("pasta", "rice", "steak")]
print(json.dumps({"all": [[recipe["title"] for recipe in recipes] for recipes in choices]}))
