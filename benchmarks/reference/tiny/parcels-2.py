# c29cc7bd87b0d055 after
import json

customer = GET_customers(name="Miriam Okafor")["customers"][0]
parcels = GET_customers_customerId_parcels(customerId=customer["customerId"])["parcels"]
print(json.dumps([parcel["trackingNumber"] for parcel in parcels]))

# after
import json

customer = GET_customers(name="Miriam Okafor")["customers"][0]
parcels = GET_customers_customerId_parcels(customerId=customer["customerId"])["parcels"]
new = [parcel for parcel in parcels if parcel["trackingNumber"] not in before]
right = len(new) == 1 and new[0]["weightGrams"] == 2400 and "tea" in new[0]["contents"].lower()
print(json.dumps({"state": right and len(parcels) == len(before) + 1}))
