# fdc3a0962c646d17
import json

session = GET_sessions_sessionId(sessionId="CSB41F09E7D2A6C358", sessionResult="Ab02b4c0!BQABAgBTeeKontor71")
words = {"refused": ["declined", "rejected"], "canceled": ["cancelled"]}
print(json.dumps({"all": [[session["status"], *words.get(session["status"], [])]]}))
