# 573df77fa85ae1e3 after
import json

print(json.dumps(GET_v2_invoicing_templates(page_size=100)["templates"]))

# after
import json

now = {template["id"]: template for template in GET_v2_invoicing_templates(page_size=100)["templates"]}
wanted = [template for template in before if template["name"] == "Translation by word"]
right = len(wanted) == 1 and sorted(now) == sorted(template["id"] for template in before)
for template in before if right else []:
    changed = template in wanted
    old, new = dict(template["template_info"]["detail"]), dict(now[template["id"]]["template_info"]["detail"])
    notes = old.pop("note", None), new.pop("note", None)
    right = right and (notes[1] == "Counted by target words." if changed else notes[0] == notes[1]) and old == new
    right = right and all(now[template["id"]].get(key) == template[key] for key in ("name", "default_template"))
    right = (
        right
        and now[template["id"]]["template_info"].keys()
        >= {"configuration", "invoicer"} & template["template_info"].keys()
    )
print(json.dumps({"state": right}))
