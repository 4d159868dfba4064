found = GET_customers(name="Miriam Okafor")["customers"][0]
parcels = GET_customers_customerId_parcels(customerId=found["customerId"])["parcels"]
heaviest = max(parcels, key=lambda parcel: parcel["weightGrams"])
DELETE_parcels_trackingNumber(trackingNumber=heaviest["trackingNumber"])
print("done")
