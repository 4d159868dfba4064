# 035388232dc0c6d2 after
import json

groups = GET_ContactGroups(xero_tenant_id="e5134fd0-92ac-47b8-b6d1-3f08c94a27e5")["ContactGroups"]
group = next(entry for entry in groups if entry["ContactGroupID"] == "b756aa33-5e15-5617-8bec-9c1d3481f0b1")
print(json.dumps([contact["ContactID"] for contact in group["Contacts"]]))

# after
import json

groups = GET_ContactGroups(xero_tenant_id="e5134fd0-92ac-47b8-b6d1-3f08c94a27e5")["ContactGroups"]
group = next(entry for entry in groups if entry["ContactGroupID"] == "b756aa33-5e15-5617-8bec-9c1d3481f0b1")
now = {contact["ContactID"] for contact in group["Contacts"]}
wanted = "00930c10-9c8d-53f4-a4c0-3422226cae25"
print(json.dumps({"state": wanted in before and now == set(before) - {wanted}}))
