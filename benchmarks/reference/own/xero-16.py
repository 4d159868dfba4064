# 1d3948b164772586
import json

transfers = GET_BankTransfers(xero_tenant_id="17b6e8c3-0d5f-4a92-a4e7-f6215d9b830c")["BankTransfers"]
biggest = sorted(transfers, key=lambda transfer: transfer["Amount"], reverse=True)[:3]
counts = {}
for transfer in biggest:
    attachments = GET_BankTransfers_BankTransferID_Attachments(
        xero_tenant_id="17b6e8c3-0d5f-4a92-a4e7-f6215d9b830c", BankTransferID=transfer["BankTransferID"]
    )["Attachments"]
    counts[transfer["BankTransferID"]] = len(attachments)
most = max(biggest, key=lambda transfer: counts[transfer["BankTransferID"]])
names = [most["BankTransferID"], most["Reference"], most["Amount"], most["DateString"][:10]]
print(json.dumps({"all": [names, counts[most["BankTransferID"]]]}))
