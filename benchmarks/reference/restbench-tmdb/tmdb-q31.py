# 34cac0d25d7167c8
import json

found = GET_search_company(query="universal pictures")["results"]
named = [company for company in found if company["name"].lower() == "universal pictures"] or found
company = GET_company_company_id(company_id=named[0]["id"])
place = company.get("headquarters") or company.get("origin_country")
print(json.dumps({"all": [place]} if place else {"empty": True}))
