# 9dabdef133676d87 after
import json

customer = GET_customers(name="Miriam Okafor")["customers"][0]
parcels = GET_customers_customerId_parcels(customerId=customer["customerId"])["parcels"]
heaviest = max(parcels, key=lambda parcel: parcel["weightGrams"])
print(json.dumps([parcel["trackingNumber"] for parcel in parcels if parcel != heaviest]))

# after
import json

customer = GET_customers(name="Miriam Okafor")["customers"][0]
parcels = GET_customers_customerId_parcels(customerId=customer["customerId"])["parcels"]
print(json.dumps({"state": [parcel["trackingNumber"] for parcel in parcels] == before}))
