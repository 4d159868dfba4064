# a94df41b3567d046
import json

results = {"CS5E72D8A1096FBC43": "X3k!LYSone", "CSF90A36C4E8571BD2": "X3k!LYStwo"}
sessions = [GET_sessions_sessionId(sessionId=name, sessionResult=result) for name, result in results.items()]
print(json.dumps({"all": [session["reference"] for session in sessions if session["status"] == "completed"]}))
