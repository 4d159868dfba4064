# 9e8075b25b1a39e4 after
import json

payments = GET_Payments(xero_tenant_id="17b6e8c3-0d5f-4a92-a4e7-f6215d9b830c")["Payments"]
fields = ("PaymentID", "Status", "IsReconciled", "Amount")
print(json.dumps([[payment[name] for name in fields] for payment in payments]))

# after
import json

payments = GET_Payments(xero_tenant_id="17b6e8c3-0d5f-4a92-a4e7-f6215d9b830c")["Payments"]
now = {payment["PaymentID"] for payment in payments if payment["Status"] != "DELETED"}
alive = [entry for entry in before if entry[1] != "DELETED"]
loose = sorted((entry for entry in alive if not entry[2]), key=lambda entry: entry[3], reverse=True)
print(json.dumps({"state": now == {entry[0] for entry in alive} - {entry[0] for entry in loose[:2]}}))
