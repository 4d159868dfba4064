found = GET_customers(name="Odd Larsen")["customers"][0]
parcels = GET_customers_customerId_parcels(customerId=found["customerId"])["parcels"]
lightest = min(parcels, key=lambda parcel: parcel["weightGrams"])
PATCH_parcels_trackingNumber(trackingNumber=lightest["trackingNumber"], instructions="Leave it with the neighbour.")
print("done")
