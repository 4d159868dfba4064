# 9e6966e2240d143b
import json

invoice = GET_v2_invoicing_invoices_invoice_id(invoice_id="INV2-Q7FD-2RWA-M6NX-T9KC")
print(json.dumps({"yes": invoice["configuration"]["allow_tip"]}))
