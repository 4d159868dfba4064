# bef8b2cfee3abb17
import json

methods = POST_paymentMethods(merchantAccount="GasthofAdler_AT", countryCode="AT")["paymentMethods"]
print(json.dumps({"yes": any(method["type"] == "eps" for method in methods)}))
