# 9a6668de7ae443c1 after
import json

payments = GET_BatchPayments(xero_tenant_id="8d0f6c52-41b7-4e0a-9c35-2b7e61d4f083")["BatchPayments"]
fields = ("BatchPaymentID", "Status", "IsReconciled", "TotalAmount")
print(json.dumps([[payment[name] for name in fields] for payment in payments]))

# after
import json

payments = GET_BatchPayments(xero_tenant_id="8d0f6c52-41b7-4e0a-9c35-2b7e61d4f083")["BatchPayments"]
now = {payment["BatchPaymentID"] for payment in payments if payment["Status"] != "DELETED"}
alive = [entry for entry in before if entry[1] != "DELETED"]
wanted = min((entry for entry in alive if not entry[2]), key=lambda entry: entry[3])[0]
print(json.dumps({"state": now == {entry[0] for entry in alive} - {wanted}}))
