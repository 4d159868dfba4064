# ebff2ab6d558abaa after
import json

customer = GET_customers(name="Odd Larsen")["customers"][0]
parcels = GET_customers_customerId_parcels(customerId=customer["customerId"])["parcels"]
numbers = [parcel["trackingNumber"] for parcel in sorted(parcels, key=lambda parcel: parcel["weightGrams"])]
print(json.dumps([GET_parcels_trackingNumber(trackingNumber=number)["instructions"] for number in numbers]))

# after
import json

customer = GET_customers(name="Odd Larsen")["customers"][0]
parcels = GET_customers_customerId_parcels(customerId=customer["customerId"])["parcels"]
numbers = [parcel["trackingNumber"] for parcel in sorted(parcels, key=lambda parcel: parcel["weightGrams"])]
now = [GET_parcels_trackingNumber(trackingNumber=number)["instructions"] for number in numbers]
told = now[0].lower().strip(" .") == "leave it with the neighbour"
print(json.dumps({"state": told and now[1:] == before[1:]}))
