# 8844d491c6d9adde
import json

customer = GET_customers(name="Miriam Okafor")["customers"][0]
parcels = GET_customers_customerId_parcels(customerId=customer["customerId"])["parcels"]
names = []
for parcel in parcels[:3]:
    driver = GET_parcels_trackingNumber(trackingNumber=parcel["trackingNumber"])["driverId"]
    names.append(GET_drivers_driverId(driverId=driver)["name"])
print(json.dumps({"all": names}))
