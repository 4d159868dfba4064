# fa4071ee34959670
import json

disabled = {subuser["username"] for subuser in GET_subusers() if subuser["disabled"]}
domains = GET_whitelabel_domains()
matching = [entry["domain"] for entry in domains if entry["username"] in disabled]
others = [entry["domain"] for entry in domains if entry["username"] not in disabled]
print(json.dumps({"all": matching, "others": others}))
