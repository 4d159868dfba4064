# 6be40e89608dc68f
import json

total = 0
for name in ("Odd Larsen", "Miriam Okafor"):
    customer = GET_customers(name=name)["customers"][0]
    parcels = GET_customers_customerId_parcels(customerId=customer["customerId"])["parcels"]
    total += sum(parcel["weightGrams"] for parcel in parcels)
print(json.dumps({"number": total}))
