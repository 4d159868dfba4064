# 591d6c39613eda71
import json

link = GET_paymentLinks_linkId(linkId="PL7D41C90AB35E2F68")
print(json.dumps({"all": [link["expiresAt"][:10]]}))
