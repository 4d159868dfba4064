# 1b5769549ec400f2
import json

settings = GET_InvoiceReminders_Settings(xero_tenant_id="8d0f6c52-41b7-4e0a-9c35-2b7e61d4f083")["InvoiceReminders"]
negative = ["no", "not", "off", "disabled", "false", "aren't", "isn't", "doesn't", "deactivated", "inactive"]
print(json.dumps({"yes": True} if settings[0]["Enabled"] else {"all": [negative]}))
