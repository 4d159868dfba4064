# eef4e007fcf91fbc
import json

stored = GET_storedPaymentMethods(shopperReference="GL-20931", merchantAccount="Glasraum_DE")["storedPaymentMethods"]
print(json.dumps({"yes": any("sepa" in method["type"].lower() for method in stored)}))
