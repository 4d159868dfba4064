# 1f95f7f032a6f17a after
import json

print(json.dumps(GET_v2_invoicing_invoices(page_size=100)["items"]))

# after
import json

now = {invoice["id"]: invoice for invoice in GET_v2_invoicing_invoices(page_size=100)["items"]}
pair = ("INV2-E9QM-3XVB-P4RJ-H6TD", "INV2-V8CT-6LKE-D3YW-N2QF")
right = sorted(now) == sorted(invoice["id"] for invoice in before)
for invoice in before if right else []:
    draft = invoice["id"] in pair and invoice["status"] == "DRAFT"
    old, new = dict(invoice["detail"]), dict(now[invoice["id"]]["detail"])
    notes = old.pop("note", None), new.pop("note", None)
    right = right and (notes[1] == "Thanks for your patience." if draft else notes[0] == notes[1])
    right = right and all(new.get(key) == old[key] for key in old if key not in ("metadata", "attachments"))
    right = right and all(now[invoice["id"]].get(key) == invoice[key] for key in ("items", "primary_recipients"))
print(json.dumps({"state": right}))
