# b17d48af3ce92f58
import json

credit = sum(
    entry["RemainingCredit"]
    for entry in GET_Overpayments(xero_tenant_id="e5134fd0-92ac-47b8-b6d1-3f08c94a27e5")["Overpayments"]
)
owed = sum(
    claim["AmountDue"]
    for claim in GET_ExpenseClaims(xero_tenant_id="e5134fd0-92ac-47b8-b6d1-3f08c94a27e5")["ExpenseClaims"]
)
larger = ["overpayment", "overpayments", "credit"] if credit > owed else ["expense claims", "expenses", "expense claim"]
print(json.dumps({"all": [larger, round(abs(credit - owed), 2)]}))
