# f179af24f0e36f13
import json

card = POST_cardDetails(merchantAccount="BakkerijDeLinde_NL", cardNumber="45713600")
names = {"FR": "France", "NL": "Netherlands", "DE": "Germany", "GB": "United Kingdom", "US": "United States"}
country = card["issuingCountryCode"]
print(json.dumps({"all": [[country, names.get(country, country)], card["fundingSource"]]}))
