# 8fbaab20f209c144
import json

found = GET_search_random_recipes(tags="dessert", number=3)["recipes"][:3]
recipes = [GET_search_recipe_information(recipe_id=recipe["id"]) for recipe in found]
totals = [
    [recipe["pricePerServing"] for recipe in recipes],
    [recipe["pricePerServing"] * recipe["servings"] for recipe in recipes],
    [GET_Price_Breakdown_by_id(recipe_id=recipe["id"])["totalCost"] for recipe in recipes],
]
titles, told = [], []
for prices in totals:
    best = recipes[prices.index(min(prices))]
    titles.append(best["title"])
    summaries = [best["summary"], GET_summarize_recipe(recipe_id=best["id"])["summary"]]
    told += [" ".join(summary.split()[:5]) for summary in summaries]
print(json.dumps({"all": [sorted(set(titles)), sorted(set(told))]}))
