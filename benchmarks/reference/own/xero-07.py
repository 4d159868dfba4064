# 6a7f36d3bcdfb247
import json

transfers = GET_BankTransfers(xero_tenant_id="17b6e8c3-0d5f-4a92-a4e7-f6215d9b830c")["BankTransfers"]
largest = max(transfers, key=lambda transfer: transfer["Amount"])
files = {}
for transfer in transfers:
    attachments = GET_BankTransfers_BankTransferID_Attachments(
        xero_tenant_id="17b6e8c3-0d5f-4a92-a4e7-f6215d9b830c", BankTransferID=transfer["BankTransferID"]
    )["Attachments"]
    files[transfer["BankTransferID"]] = {attachment["FileName"] for attachment in attachments}
wanted = files[largest["BankTransferID"]]
others = set().union(*files.values()) - wanted
print(json.dumps({"all": sorted(wanted), "others": sorted(others)}))
