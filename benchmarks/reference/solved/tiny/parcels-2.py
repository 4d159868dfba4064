found = GET_customers(name="Miriam Okafor")["customers"][0]
POST_customers_customerId_parcels(customerId=found["customerId"], contents="Tea set", weightGrams=2400)
print("done")
