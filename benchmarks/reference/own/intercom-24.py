# 10deb0e125c7dcfd after
import json

states = {number: GET_news_news_items_news_item_id(news_item_id=number)["state"] for number in (3305, 3308)}
print(json.dumps([number for number, state in states.items() if state == "draft"]))

# after
import json


def exists(number):
    try:
        return str(GET_news_news_items_news_item_id(news_item_id=number)["id"]) == str(number)
    except Exception:
        return False


gone = [number for number in (3305, 3308) if not exists(number)]
print(json.dumps({"state": len(before) == 1 and gone == before}))
