# a176c4627e77e152
import json

results = {"CS2C84B6E0F7D3915A": "Vn!7aQ1", "CSD67135A9C0E8F42B": "Vn!7aQ2", "CS084FE2B7961CA5D3": "Vn!7aQ3"}
sessions = [GET_sessions_sessionId(sessionId=name, sessionResult=result) for name, result in results.items()]
print(json.dumps({"number": sum(session["status"] == "completed" for session in sessions)}))
