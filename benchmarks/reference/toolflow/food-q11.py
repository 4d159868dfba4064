# 281abc0b82e74131
import json


def least_equipped(recipes):
    """Those of some recipes that need the fewest tools; none where the service does not know them."""
    try:
        needed = [len(GET_equipment_by_id(recipe_id=recipe["id"])["equipment"]) for recipe in recipes]
    except Exception:
        return []
    return [recipe for recipe, number in zip(recipes, needed, strict=True) if number == min(needed)]


recipes = GET_search_recipes_by_ingredients(ingredients="apples,milk", number=5)[:5]
best = least_equipped(recipes)
costs = []
for recipe in best:
    served = GET_search_recipe_information(recipe_id=recipe["id"])
    price = GET_Price_Breakdown_by_id(recipe_id=recipe["id"])
    some = [served["pricePerServing"], served["pricePerServing"] * served["servings"]]
    some += [price["totalCost"], price["totalCostPerServing"]]
    costs += [round(cost / part, 2) for cost in some for part in (1, 100)]
titles = [recipe["title"] for recipe in best]
every = sorted({recipe["title"] for recipe in recipes})
print(json.dumps({"all": [titles, costs]} if best else {"any": every, "n": len(every)}))
