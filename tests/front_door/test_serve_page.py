"""`atc serve --ui` in a browser: ask, watch, approve, decline, past solutions; by keyboard, narrow and in dark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.atc.apps.server.serving import ALICE, ProgramEndpoint, Serving, start_endpoint, start_serving
from tests.atc.apps.server.test_serve import environment, options
from tests.browser import Browser, open_browser
from tests.local_api import Answer, LocalAPI

pytestmark = pytest.mark.browser

EVIL = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202egnp'
ALERT = 'print(POST_alerts(text="storm", level=GET_cities_city_id(city_id="oslo")["level"])["text"])'
ENTER, ESCAPE, TAB = "\ue007", "\ue00c", "\ue004"


@pytest.fixture(scope="module")
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities/oslo", {"id": "oslo", "name": EVIL, "level": 3})
        api.respond("POST", "/alerts", lambda received: Answer(200, received.json()))
        yield api


@pytest.fixture(scope="module")
def model() -> Iterator[ProgramEndpoint]:
    with start_endpoint() as model:
        model.programs |= {"storm": ALERT, "city": 'print(GET_cities_city_id(city_id="oslo")["name"])'}
        yield model


@pytest.fixture(scope="module")
def serving(api: LocalAPI, model: ProgramEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("page")
    with start_serving(folder, [*options(api, folder), "--ui"], environment(model)) as serving:
        yield serving


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    with open_browser() as window:
        yield window


@pytest.fixture
def browser(serving: Serving, window: Browser) -> Browser:
    """The page, with nothing open and its key entered."""
    window.open(f"{serving.url}/")
    window.run(f"sessionStorage.setItem('key', '{ALICE}'); location.replace('/')")
    window.until(lambda: window.shown("#question"))
    window.logged()
    return window


def ask(browser: Browser, question: str, status: str) -> None:
    """Ask with the keyboard alone, and wait for a status."""
    browser.press(question + ENTER)
    browser.until(lambda: question in browser.text("#asked"), question)
    browser.until(lambda: browser.text("#status").startswith(status), f"{status}, and not {browser.text('#status')}")


def focus(browser: Browser) -> str:
    return str(browser.run("return document.activeElement.id || document.activeElement.tagName"))


def writes(api: LocalAPI) -> list[object]:
    return [received.json() for received in api.requests if received.method == "POST"]


def test_a_key_is_asked_for_until_it_is_one(serving: Serving, window: Browser) -> None:
    """A wrong key is asked for again, a right one stays in the tab; no address ever has it."""
    window.open(f"{serving.url}/")
    window.run("sessionStorage.clear(); location.replace('/')")
    window.until(lambda: focus(window) == "key")
    window.press("wrong-key-0123456789" + ENTER)
    window.until(lambda: "does not know this key" in window.text("#login-message"))
    window.press(ALICE + ENTER)
    window.until(lambda: focus(window) == "question")

    assert ALICE not in window.run("return location.href + document.cookie + JSON.stringify(localStorage)")
    assert window.run("return sessionStorage.getItem('key')") == ALICE
    window.run("sessionStorage.setItem('key', 'no-longer-a-key')")
    window.press("Which city is it?" + ENTER)
    window.until(lambda: focus(window) == "key")
    assert "knows it no longer" in window.text("#login-message")


def test_a_solve_is_stopped(browser: Browser, model: ProgramEndpoint) -> None:
    """The button ends a solve while the model still writes."""
    release = model.hold("stopped")
    ask(browser, "Which stopped city is it?", "Writing a program")
    browser.click("#stop")
    browser.until(lambda: browser.text("#status") == "Ended: interrupted")
    release.set()

    assert not browser.shown("#stop") and browser.logged() == []


def test_an_answer_comes_live_and_is_text_alone(browser: Browser, model: ProgramEndpoint) -> None:
    """Program, call and tokens are seen; markup in a reply stays text, and a direction mark becomes visible."""
    ask(browser, "Which city is it?", "Answered")

    assert browser.text("#answer pre") == EVIL.replace("\u202e", "<U+202E>")
    assert 'GET_cities_city_id(city_id="oslo")' in browser.text(".program")
    assert browser.text(".calls .state") == "200" and "1 call ·" in browser.text("#figures")
    browser.click(".calls summary")
    assert "<script>" in browser.text(".calls pre") and "<U+202E>" in browser.text(".calls pre")
    assert browser.count("img, main script") == 0 and browser.logged() == []


def test_a_past_solution_opens_as_its_record(browser: Browser) -> None:
    """The list leads to the page of `atc trace`, in a frame with its style and without scripts; Escape closes it."""
    ask(browser, "Which past city is it?", "Answered")
    browser.open(browser.run("return location.origin + '/'"))
    browser.until(lambda: browser.count("#past a") > 0)
    browser.click("#past li:first-child a")
    browser.until(lambda: browser.count("#record iframe") == 1)

    with browser.inside("#record iframe"):
        browser.until(lambda: "Which past city is it?" in browser.text("main"))
        assert browser.run("return getComputedStyle(document.querySelector('main')).maxWidth") == "1200px"
        browser.click("a.at")
        assert browser.count("tr:target") == 1
    assert browser.run("return document.querySelector('iframe').getAttribute('sandbox')") == "allow-same-origin"
    assert browser.logged() == []
    browser.run("document.getElementById('question').focus()")
    browser.press(ESCAPE)
    assert browser.count("#record iframe") == 0 and focus(browser) == "record-button"
    browser.press(ESCAPE)
    assert focus(browser) == "question"


def test_writes_are_approved_with_the_keyboard(browser: Browser, api: LocalAPI) -> None:
    """The plan shows values with their origins. It takes no focus; Tab leads to it, and Enter approves it."""
    before = len(writes(api))
    ask(browser, "Send a storm alert for oslo", "Waiting for your approval")
    plan = browser.text("#plan")
    assert len(writes(api)) == before and focus(browser) == "question"
    for _ in range(6):
        if focus(browser) != "approve":
            browser.press(TAB)
    assert focus(browser) == "approve"
    assert browser.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.press(ENTER)
    browser.until(lambda: browser.text("#status").startswith("Answered"))

    assert "1 write planned. Nothing was sent yet." in plan and "from call 1: level" in plan
    assert writes(api)[before:] == [{"text": "storm", "level": 3}]
    assert not browser.shown("#plan")


def test_a_reload_and_a_closed_tab_approve_nothing(browser: Browser, api: LocalAPI) -> None:
    """The page can go away while it is asked: the solve waits, and all of it is there again. A no sends nothing."""
    before = len(writes(api))
    ask(browser, "Send another storm alert", "Waiting for your approval")
    address = browser.run("return location.href")
    browser.open("about:blank")
    browser.open(address)
    browser.until(lambda: browser.shown("#plan"))
    program, calls = browser.text(".program"), browser.count(".calls li")
    browser.click("#decline")
    browser.until(lambda: browser.text("#status").startswith("Ended"))

    assert "POST_alerts" in program and calls == 2
    assert browser.text("#status") == "Ended: refused" and "not confirmed" in browser.text("#answer")
    assert len(writes(api)) == before


def test_a_page_follows_a_server_that_restarts(browser: Browser, serving: Serving, model: ProgramEndpoint) -> None:
    """Killed in the middle of a solve and started again, the server goes on, and so does the page, by itself."""
    release = model.hold("restarted")
    ask(browser, "Which restarted city is it?", "Writing a program")
    serving.kill()
    browser.until(lambda: "connection broke" in browser.text("#status"))
    serving.start()
    browser.until(lambda: browser.text("#status") == "Writing a program")
    release.set()
    browser.until(lambda: browser.text("#status").startswith("Answered"))

    assert "<script>" in browser.text("#answer") and browser.count(".attempt") == 1
    browser.logged()  # the refused connections


def test_the_policy_stops_what_would_act(serving: Serving, browser: Browser) -> None:
    """No inline script runs, nothing is loaded from elsewhere, and no other page frames this one."""
    with serving.client(None) as client:
        page = client.get("/")
    browser.run(
        "const s = document.createElement('script'); s.textContent = 'window.acted = 1'; document.body.append(s)"
    )
    browser.run("const i = document.createElement('img'); i.src = 'https://example.org/x'; document.body.append(i)")
    browser.until(lambda: len(browser.logged()) >= 2)

    assert browser.run("return window.acted") is None
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'; script-src 'self';" in policy and "frame-ancestors 'none'" in policy
    assert "<title>Weather · atc</title>" in page.text and json.dumps(ALICE) not in page.text


@pytest.mark.parametrize("dark", [False, True])
def test_narrow_and_dark(serving: Serving, tmp_path: Path, dark: bool) -> None:
    """At 375 pixels nothing scrolls sideways, and the user's colours are taken."""
    with open_browser(375, 800, dark=dark) as narrow:
        narrow.narrow(375, 800)
        narrow.open(f"{serving.url}/")
        narrow.run(f"sessionStorage.setItem('key', '{ALICE}'); location.replace('/')")
        narrow.until(lambda: narrow.shown("#question"))
        ask(narrow, "Send a narrow storm alert", "Waiting for your approval")
        narrow.screenshot(tmp_path / "page.png")
        width, visible = narrow.run("return [document.documentElement.scrollWidth, innerWidth]")
        back = narrow.run("return getComputedStyle(document.body).backgroundColor")
        narrow.click("#decline")

    assert (width, visible) == (375, 375)
    assert back == ("rgb(18, 21, 24)" if dark else "rgb(247, 247, 245)")
