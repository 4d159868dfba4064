# 6594d668500942f6
import json


def least_equipped(recipes):
    """Those of some recipes that need the fewest tools; none where the service does not know them."""
    try:
        needed = [len(GET_equipment_by_id(recipe_id=recipe["id"])["equipment"]) for recipe in recipes]
    except Exception:
        return []
    return [recipe for recipe, number in zip(recipes, needed, strict=True) if number == min(needed)]


recipes = GET_search_recipes_by_ingredients(ingredients="flour,milk", number=3)[:3]
best = least_equipped(recipes)
told = []
for recipe in best:
    summary = GET_summarize_recipe(recipe_id=recipe["id"])["summary"]
    told.append(" ".join(summary.split()[:5]))
titles = [recipe["title"] for recipe in best]
every = sorted({recipe["title"] for recipe in recipes})
print(json.dumps({"all": [titles, told]} if best else {"any": every, "n": len(every)}))
