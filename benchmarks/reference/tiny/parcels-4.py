# 59256a74a34cc778
import json

customer = GET_customers(name="Miriam Okafor")["customers"][0]
parcels = GET_customers_customerId_parcels(customerId=customer["customerId"])["parcels"]
lightest = min(parcels, key=lambda parcel: parcel["weightGrams"])
events = GET_parcels_trackingNumber_events(trackingNumber=lightest["trackingNumber"])["events"]
last = max(events, key=lambda event: event["at"])
print(json.dumps({"all": [last["what"], last["place"]]}))
