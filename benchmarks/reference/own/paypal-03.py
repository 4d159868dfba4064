# bc0b1493d9129d0e
import json

lines = GET_v2_invoicing_invoices_invoice_id(invoice_id="INV2-W9PL-4BDG-T62M-XJSA")["items"]
most = max(lines, key=lambda line: float(line["quantity"]) * float(line["unit_amount"]["value"]))
print(json.dumps({"all": [most["name"]], "others": [line["name"] for line in lines if line != most]}))
