# ef0986ee785b6202
import json

template_id = GET_v2_invoicing_invoices_invoice_id(invoice_id="INV2-T5NA-W2KC-Z9DH-7MLX")["configuration"][
    "template_id"
]
print(json.dumps({"all": [GET_v2_invoicing_templates_template_id(template_id=template_id)["name"]]}))
