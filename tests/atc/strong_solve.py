"""A solve with the profile `large` over HTTP, in a process of its own: prints what it entered and loaded, as JSON.

`test_trace` runs it. The service and the endpoint of the model are servers on localhost.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OURS = tuple(f"{ROOT / name}{os.sep}" for name in ("protocols", "sandbox", "atc", "probing", "benchmarks"))
"""Where the files of ours lie: a virtual environment may be in the same folder."""
PROGRAM = 'film = GET_films(query="Dune")["films"][0]\nprint(film["title"], film["year"])'


class Reply(BaseHTTPRequestHandler):
    """A film to a GET, and a program to a POST."""

    def do_GET(self) -> None:
        """The service, and the endpoint's list of models."""
        self.reply({"page": 1, "pages": 1, "films": [{"filmId": 7, "title": "Dune", "year": 2021}]})

    def do_POST(self) -> None:
        """The endpoint."""
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": f"```python\n{PROGRAM}\n```"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940}
        fixed = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
        self.reply({**fixed, "choices": [choice], "usage": usage})

    def reply(self, body: object) -> None:
        """Answer with JSON."""
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def main() -> None:
    """Solve one question, and print its answer and the files of ours."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Reply)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    entered: set[str] = set()

    def enter(frame: Any, event: str, argument: object) -> None:
        if event == "call":
            entered.add(frame.f_code.co_filename)

    from atc import Agent
    from atc.models.openai_compatible import Endpoint
    from protocols import load
    from protocols.samples import sample

    protocol = load(sample("cinema"))
    os.environ |= {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none", "CINEMA_TOKEN": "none"}
    model = Endpoint("m")
    with Agent(protocol, model, base_url=url, auth=["bearer:env:CINEMA_TOKEN"], profile="large") as agent:
        threading.setprofile(enter)
        sys.setprofile(enter)
        solution = agent.solve("When did Dune come out?")
        sys.setprofile(None)
    modules = {name: str(getattr(module, "__file__", None)) for name, module in sys.modules.items()}
    loaded = {name: file for name, file in modules.items() if file.startswith(OURS)}
    files = sorted(file for file in entered if file.startswith(OURS))
    print(json.dumps({"answer": solution.answer, "entered": files, "loaded": loaded, "modules": sorted(sys.modules)}))


if __name__ == "__main__":
    main()
