# 69f540a06ca2f81f
import json

customer = GET_customers(name="Miriam Okafor")["customers"][0]
parcels = GET_customers_customerId_parcels(customerId=customer["customerId"])["parcels"]
fees = [GET_parcels_trackingNumber(trackingNumber=parcel["trackingNumber"])["fee"] for parcel in parcels[:3]]
print(json.dumps({"number": round(sum(fees), 2)}))
