# c802df11c9149439
import json

users = len(GET_Users(xero_tenant_id="c27a9b14-6f38-4d51-8e02-90b3a5c7d16e")["Users"])
groups = len(GET_ContactGroups(xero_tenant_id="c27a9b14-6f38-4d51-8e02-90b3a5c7d16e")["ContactGroups"])
words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
print(json.dumps({"all": [[count, *words[count : count + 1]] for count in (users, groups)]}))
