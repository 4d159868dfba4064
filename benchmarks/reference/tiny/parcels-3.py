# d49e6ce93c0f3a7d
import json

found = GET_customers(name="Odd Larsen")["customers"][0]
customer = GET_customers_customerId(customerId=found["customerId"])
print(json.dumps({"all": [GET_depots_depotCode(depotCode=customer["depotCode"])["phone"]]}))
