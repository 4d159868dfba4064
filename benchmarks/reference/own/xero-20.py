# ba6cd49c68d52686 after
import json

payments = GET_Payments(xero_tenant_id="17b6e8c3-0d5f-4a92-a4e7-f6215d9b830c")["Payments"]
print(json.dumps({payment["PaymentID"]: payment["Status"] for payment in payments}))

# after
import json

payments = GET_Payments(xero_tenant_id="17b6e8c3-0d5f-4a92-a4e7-f6215d9b830c")["Payments"]
now = {payment["PaymentID"]: payment["Status"] for payment in payments}
wanted = "3a5dd9dd-03d0-5fe0-973d-b55af2072e84"
others = {key: status for key, status in before.items() if key != wanted}
left = {key: status for key, status in now.items() if key != wanted}
print(json.dumps({"state": wanted in before and now.get(wanted, "DELETED") == "DELETED" and left == others}))
