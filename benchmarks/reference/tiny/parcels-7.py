# ca51f66d40895433
import json

customer = GET_customers(name="Odd Larsen")["customers"][0]
parcels = GET_customers_customerId_parcels(customerId=customer["customerId"])["parcels"]
heaviest = max(parcels, key=lambda parcel: parcel["weightGrams"])
driver = GET_parcels_trackingNumber(trackingNumber=heaviest["trackingNumber"])["driverId"]
found = GET_drivers_driverId(driverId=driver)
print(json.dumps({"all": [found["name"], found["vehicle"]]}))
