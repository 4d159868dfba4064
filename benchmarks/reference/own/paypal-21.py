# 7b71d1066eec1524
import json

names = ("INV2-T5NA-W2KC-Z9DH-7MLX", "INV2-W9PL-4BDG-T62M-XJSA", "INV2-5GCE-V9QX-L2BW-N8KT")
tips = [float(GET_v2_invoicing_invoices_invoice_id(invoice_id=name)["gratuity"]["value"]) for name in names]
print(json.dumps({"yes": sum(tips) > 0}))
