# 9c3cf116902ff75b
import json

organisation = GET_Organisation(xero_tenant_id="17b6e8c3-0d5f-4a92-a4e7-f6215d9b830c")["Organisations"][0]
settings = GET_Organisation_OrganisationID_CISSettings(
    xero_tenant_id="17b6e8c3-0d5f-4a92-a4e7-f6215d9b830c", OrganisationID=organisation["OrganisationID"]
)["CISSettings"]
print(json.dumps({"number": settings[0]["Rate"]}))
