# 111ea52b4869da6b
import json

people = [GET_teammates_username(username=username) for username in ("lvargas", "mhopkins", "ttan")]
claims = []
for person in people:
    if "mail.send" in person["scopes"]:
        claims += [[person["username"], person["first_name"], person["email"]], person["city"]]
print(json.dumps({"all": claims}))
