# d39ace8a24a5898a
import json

amounts = {
    "bank transfer": max(
        entry["Amount"]
        for entry in GET_BankTransfers(xero_tenant_id="e5134fd0-92ac-47b8-b6d1-3f08c94a27e5")["BankTransfers"]
    ),
    "batch payment": max(
        entry["TotalAmount"]
        for entry in GET_BatchPayments(xero_tenant_id="e5134fd0-92ac-47b8-b6d1-3f08c94a27e5")["BatchPayments"]
    ),
    "invoice": max(
        entry["Total"] for entry in GET_Invoices(xero_tenant_id="e5134fd0-92ac-47b8-b6d1-3f08c94a27e5")["Invoices"]
    ),
}
kind = max(amounts, key=lambda name: amounts[name])
print(json.dumps({"all": [amounts[kind], [kind, kind + "s", kind.replace(" ", "")]]}))
