# 20536f587ef5363e
import json

item = GET_news_news_items_news_item_id(news_item_id=3306)
sender = GET_admins_admin_id(admin_id=item["sender_id"])
negative = ["draft", "no", "not", "hasn't", "isn't", "unpublished"]
state = ["live", "yes"] if item["state"] == "live" else negative
print(json.dumps({"all": [sender["name"], state]}))
