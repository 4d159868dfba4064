# 485cb02157ab9acb
import json

identifiers = [
    "1531d761-c971-5aae-94ee-3a115bc16db4",
    "996914b9-7eef-57a8-ba1d-a505d3aa2ce3",
    "341b12f7-4aed-5d3f-a4d6-74eeadfa1f9e",
    "9142216d-ec2d-559b-a5fd-dc7f017bfcd2",
]
quotes = {
    quote["QuoteID"]: quote for quote in GET_Quotes(xero_tenant_id="c27a9b14-6f38-4d51-8e02-90b3a5c7d16e")["Quotes"]
}
total = sum(quotes[identifier]["Total"] for identifier in identifiers)
print(json.dumps({"all": [round(total, 2)]}))
