# d55b14f0884b5497
import json

broken = {link["username"] for link in GET_whitelabel_links() if not link["valid"]}
sound = {domain["username"] for domain in GET_whitelabel_domains() if domain["valid"]}
subusers = GET_subusers()
addresses = [subuser["email"] for subuser in subusers if subuser["username"] in broken & sound]
others = [subuser["email"] for subuser in subusers if subuser["email"] not in addresses]
print(json.dumps({"all": addresses, "others": others}))
