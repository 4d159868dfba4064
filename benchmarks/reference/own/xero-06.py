# 6667e5ea56552d86
import json

notes = GET_CreditNotes(xero_tenant_id="e5134fd0-92ac-47b8-b6d1-3f08c94a27e5")["CreditNotes"]
asked = ("e458db1e-806a-5194-9a5d-cd3b3ed61f67", "a22551b9-e7f2-54a7-8827-70ddc9fb1472")
pair = [next(note for note in notes if note["CreditNoteID"] == identifier) for identifier in asked]
less, more = sorted(pair, key=lambda note: note["RemainingCredit"])
difference = round(more["RemainingCredit"] - less["RemainingCredit"], 2)
print(json.dumps({"all": [[more["CreditNoteID"], more["CreditNoteNumber"]], difference]}))
