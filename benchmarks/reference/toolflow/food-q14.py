# 20e6c5889654f181
import json

wanted = []
for query in ("orange juice", "pear juice", "apple juice"):
    products = GET_search_grocery_product(query=query)["products"][:10]
    found = [GET_product_information(product_id=product["id"]) for product in products]
    wanted += [[product["title"] for product in found], [str(product["category"]) for product in found]]
print(json.dumps({"all": wanted}))
