# f6880285a129cc83
import json

found = GET_search_grocery_product(query="sauce", maxCalories=2000, minProtein=5, number=3)["products"][:3]
titles = list(dict.fromkeys(product["title"] for product in found))
print(json.dumps({"any": titles, "n": len(titles)} if titles else {"empty": True}))
