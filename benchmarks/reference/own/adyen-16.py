# 2c4424079e3db950 after
import json

print(json.dumps(GET_paymentLinks_linkId(linkId="PL08E5D1B94C7632FA")["status"]))

# after
import json

now = GET_paymentLinks_linkId(linkId="PL08E5D1B94C7632FA")["status"]
print(json.dumps({"state": before == "active" and now == "expired"}))
