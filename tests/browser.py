"""A headless browser for tests: Chromium, driven over WebDriver by the `chromedriver` that comes with it."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

__all__ = ["DRIVER", "Browser", "open_browser"]

DRIVER = shutil.which("chromedriver")
"""Where the driver lies; None where there is no browser to test with."""

_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The key of an element's reference, as the standard fixes it (W3C WebDriver, section 11)."""


class Browser:
    """One window. Selectors are CSS; an element that is not there is a RuntimeError."""

    def __init__(self, session: str) -> None:
        self._session = session

    def open(self, page: Path | str) -> None:
        """A file, or a URL."""
        self._ask("POST", "url", url=page if isinstance(page, str) else page.resolve().as_uri())

    def press(self, text: str) -> None:
        """Type into what has the focus; keys without a sign are those of the standard (W3C WebDriver, 17.4.2)."""
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self._ask("POST", "actions", actions=[{"type": "key", "id": "keyboard", "actions": keys}])

    def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Wait until something holds. Raises: TimeoutError: It does not within 30 seconds."""
        deadline = time.monotonic() + 30
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(what or "the page does not come to this")
            time.sleep(0.05)

    def click(self, selector: str) -> None:
        self._ask("POST", f"element/{self._find(selector)}/click")

    def text(self, selector: str) -> str:
        """The text that is visible there; empty for what is hidden."""
        return str(self._ask("GET", f"element/{self._find(selector)}/text"))

    def count(self, selector: str) -> int:
        return len(self._ask("POST", "elements", using="css selector", value=selector))

    def shown(self, selector: str) -> bool:
        return bool(self._ask("GET", f"element/{self._find(selector)}/displayed"))

    def run(self, script: str) -> Any:
        """What the script returns; it comes from us, so that the page's policy does not stop it."""
        return self._ask("POST", "execute/sync", script=script, args=[])

    @contextmanager
    def inside(self, selector: str) -> Iterator[None]:
        """Look into a frame of the page."""
        self._ask("POST", "frame", id={_ELEMENT: self._find(selector)})
        yield
        self._ask("POST", "frame/parent")

    def narrow(self, width: int, height: int) -> None:
        """Give the page this size, also below the least width of a window, as a telephone has it."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": True}
        self._ask("POST", "goog/cdp/execute", cmd="Emulation.setDeviceMetricsOverride", params=metrics)

    def logged(self) -> list[str]:
        """Errors in the console since the last look: what the page tried to load, or to run, and may not."""
        return [entry["message"] for entry in self._ask("POST", "se/log", type="browser")]

    def screenshot(self, file: Path) -> None:
        """What is to be seen now; as PNG or WebP, by the name of the file."""
        params = {"format": file.suffix[1:]} | ({"quality": 80} if file.suffix == ".webp" else {})
        shot = self._ask("POST", "goog/cdp/execute", cmd="Page.captureScreenshot", params=params)
        file.write_bytes(base64.b64decode(shot["data"]))

    def _find(self, selector: str) -> str:
        return str(self._ask("POST", "element", using="css selector", value=selector)[_ELEMENT])

    def _ask(self, method: str, path: str, **data: object) -> Any:
        json = data if method == "POST" else None
        value = requests.request(method, f"{self._session}/{path}", json=json, timeout=60).json()["value"]
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(f"{value['error']}: {value['message']}")
        return value


@contextmanager
def open_browser(width: int = 1280, height: int = 900, dark: bool = False) -> Iterator[Browser]:
    """A browser with a profile of its own, which is gone afterwards; `DRIVER` must be there."""
    assert DRIVER
    with tempfile.TemporaryDirectory() as profile:
        driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert driver.stdout
            port = next(found[1] for line in driver.stdout if (found := re.search(r"successfully on port (\d+)", line)))
            base = f"http://127.0.0.1:{port}/session"
            arguments = [f"--user-data-dir={profile}", f"--window-size={width},{height}", "--headless=new"]
            # The sandbox of Chromium does not start for root, as whom tests often run; the page is one of ours.
            arguments += ["--no-sandbox", "--disable-gpu", *(["--force-dark-mode"] if dark else [])]
            options = {"goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}
            answer = requests.post(base, json={"capabilities": {"alwaysMatch": options}}, timeout=120).json()["value"]
            if "sessionId" not in answer:
                raise RuntimeError(answer["message"])
            session = f"{base}/{answer['sessionId']}"
            try:
                yield Browser(session)
            finally:  # else the browser holds the driver's output open
                requests.delete(session, timeout=60)
        finally:
            driver.terminate()
            driver.communicate()
