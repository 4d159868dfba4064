# b9ba8fb02fbc928d
import json

names = ["Larkspur Freight", "Ostrava Glass", "Velvet Tram"]
companies = [GET_companies(name=name)["data"][0] for name in names]
largest = max(companies, key=lambda company: company["user_count"])
print(json.dumps({"all": [largest["name"], largest["user_count"]]}))
