// The page of `atc serve --ui`, a client of /v1/solve. Replies, programs and questions are text, never HTML.
"use strict";

const $ = (id) => document.getElementById(id);
const SHOWN = 20000; // characters of a reply; the record has the rest
const TITLE = document.title;
// Characters that act instead of being seen: controls, direction marks, what takes no room.
const ACTING =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u2060-\u206f\u2800\u3164\ufeff\uffa0\u{e0000}-\u{e0fff}]/gu;

const visible = (value) =>
  String(value).replace(ACTING, (c) => `<U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);
const json = (value, indent) => JSON.stringify(value, null, indent) ?? "";
const cut = (text, most) => (text.length > most ? `${text.slice(0, most)}… (${text.length} characters)` : text);
const figure = (number) => number.toLocaleString("en");
const count = (number, noun) => `${figure(number)} ${noun}${number === 1 ? "" : "s"}`;
const ANSWERED = {
  supported: "Answered",
  qualified: "Answered; the model says what it assumed",
  doubtful: "Answered, with findings against it",
  unsupported: "Printed, but no reply supports it",
};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function element(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.map((child) => (child instanceof Node ? child : visible(child))));
  return node;
}

// Requests

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function request(method, path, { body, headers = {}, signal } = {}) {
  const key = sessionStorage.getItem("key");
  const sent = { ...headers };
  if (key) sent.Authorization = `Bearer ${key}`;
  if (body) sent["Content-Type"] = "application/json";
  const reply = await fetch(path, { method, headers: sent, body: body && json(body), signal, cache: "no-store" });
  if (reply.ok) return reply;
  const error = await reply.json().catch(() => null);
  if (reply.status === 401) askForKey(key ? "The server does not know this key, or knows it no longer." : "");
  throw new Refused(reply.status, error?.error?.message ?? `The server answered ${reply.status}.`);
}

function askForKey(message) {
  watching?.abort();
  sessionStorage.removeItem("key");
  $("app").hidden = true;
  $("login").hidden = false;
  $("login-message").textContent = message;
  $("key").value = "";
  $("key").focus();
}

async function* eventsOf(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  let event = {};
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (buffer + value).split("\n");
    buffer = lines.pop();
    for (const line of lines.map((text) => text.replace(/\r$/, ""))) {
      if (line === "") {
        if (event.event) yield event;
        event = {};
      } else {
        const at = line.indexOf(":");
        if (at > 0) event[line.slice(0, at)] = line.slice(at + 1).replace(/^ /, "");
      }
    }
  }
}

// The open solve

let watching = null; // ends the reading of the solve that was open before
let solve = null;

function clear(id, query) {
  solve = {
    id,
    attempts: new Map(),
    usage: { prompt_tokens: 0, completion_tokens: 0 },
    reading: 0,
    calls: 0,
    model: "",
    plan: null,
  };
  $("asked").textContent = visible(query);
  for (const part of ["answer", "attempts", "record", "plan-writes"]) $(part).replaceChildren();
  for (const part of ["answer", "plan", "open-record"]) $(part).hidden = true;
  $("record-button").setAttribute("aria-expanded", "false");
  $("stop").hidden = false;
  $("solve").hidden = false;
  $("error").textContent = "";
  document.title = TITLE;
  figures();
}

function figures() {
  const { usage, reading, calls, model } = solve;
  const parts = [
    count(calls, "call"),
    `${figure(usage.prompt_tokens + reading)} tokens read, ${figure(usage.completion_tokens)} written`,
  ];
  $("figures").textContent = visible([...parts, ...(model ? [model] : [])].join(" · "));
}

function status(text) {
  if ($("status").textContent !== text) $("status").textContent = text;
}

// Read a solve from its beginning, or from the last event that came, until it is over.
async function watch(id, query) {
  watching?.abort();
  const { signal } = (watching = new AbortController());
  clear(id, query);
  status("Waiting for its turn");
  let last = null;
  let broken = false;
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    try {
      const reply = await request("GET", `/v1/solve/${encodeURIComponent(id)}/events`, {
        signal,
        headers: last ? { "Last-Event-ID": last } : {},
      });
      for await (const event of eventsOf(reply.body)) {
        if (signal.aborted) return;
        wait = 500;
        last = event.id ?? last;
        if (on[event.event]?.(JSON.parse(event.data), broken)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused && error.status < 500) {
        $("stop").hidden = true;
        status(error.message);
        return;
      }
    }
    broken = true;
    status("The connection broke; trying again");
    await pause(wait);
    if (signal.aborted) return;
  }
}

function attempt(number) {
  if (!solve.attempts.has(number)) {
    const view = {
      program: element("pre", "program"),
      calls: element("ol", "calls"),
      output: element("pre", "output"),
      fault: element("div"),
      rows: new Map(),
      made: 0,
    };
    view.output.hidden = true;
    $("attempts").prepend(
      element(
        "section",
        "attempt",
        element("h3", "", `Program ${number}`),
        view.program,
        view.calls,
        view.output,
        view.fault,
      ),
    );
    solve.attempts.set(number, view);
  }
  return solve.attempts.get(number);
}

function showProgram(view, program) {
  const lines = program.replace(/\n+$/, "").split("\n");
  view.program.replaceChildren(...lines.map((line) => element("span", "", line)));
}

function callRow(view, index, tool, line) {
  if (!view.rows.has(index)) {
    const place = [`call ${index + 1}`, ...(line ? [`line ${line}`] : [])].join(" · ");
    view.rows.set(
      index,
      element(
        "li",
        "",
        element("span", "state", "…"),
        element("code", "", tool ?? "request"),
        element("small", "", place),
      ),
    );
    view.calls.append(view.rows.get(index));
  }
  return view.rows.get(index);
}

function showPlan(asked) {
  solve.plan = asked.plan;
  const blocks = asked.planned.map(({ number, tool, request, values, more }) => {
    const table = element(
      "table",
      "",
      ...values.map(([name, value, origin]) =>
        element(
          "tr",
          "",
          element("th", "", name),
          element("td", "", element("code", "", value)),
          element("td", "quiet", origin),
        ),
      ),
    );
    table.querySelectorAll("th").forEach((cell) => (cell.scope = "row"));
    return element(
      "div",
      "write",
      element("p", "", element("b", "", `${number}. ${tool}`), element("br"), element("code", "quiet", request)),
      element("div", "wide", table),
      more ? element("p", "failed", `${count(more, "more value")} NOT shown here`) : "",
    );
  });
  const reads = asked.reads.map((name) =>
    element(
      "p",
      "quiet",
      `${name}: uncertain, for it reads what the writes before it may change; it is read again after them.`,
    ),
  );
  $("plan-writes").replaceChildren(...blocks, ...reads);
  $("plan-title").textContent = `${count(asked.planned.length, "write")} planned. Nothing was sent yet.`;
  $("approve").textContent = `Approve and send ${asked.planned.length === 1 ? "it" : `all ${asked.planned.length}`}`;
  $("approve").disabled = $("decline").disabled = false;
  $("plan").hidden = false;
  status(`Waiting for your approval of ${count(asked.planned.length, "write")}`);
  document.title = `Approve? · ${TITLE}`;
  refreshPast();
}

function hidePlan() {
  if (solve.plan === null) return;
  if ($("plan").contains(document.activeElement)) $("asked").focus();
  solve.plan = null;
  $("plan").hidden = true;
  document.title = TITLE;
}

async function answerPlan(approve) {
  const { id, plan } = solve;
  $("approve").disabled = $("decline").disabled = true;
  try {
    await request("POST", `/v1/solve/${encodeURIComponent(id)}/plan`, { body: { plan, approve } });
  } catch (error) {
    $("error").textContent = `Not sent: ${error.message}`;
    $("approve").disabled = $("decline").disabled = false;
  }
}

function over(text) {
  hidePlan();
  $("stop").hidden = true;
  status(text);
  refreshPast();
  return true;
}

// What each event changes; true where nothing more comes.
const on = {
  SolveStarted({ query, model }) {
    clear(solve.id, query);
    solve.model = model;
    status("Reading the API");
    figures();
  },
  ModelWaiting({ attempt: number }) {
    status(number === 1 ? "Writing a program" : `Writing program ${number}`);
  },
  ModelProgress({ attempt: number, progress }) {
    if (progress.text) attempt(number).program.replaceChildren(element("span", "draft", progress.text));
    solve.reading = progress.read; // in the figures, which no screen reader reads out each time
    figures();
  },
  ProgramWritten({ attempt: number, program, usage }) {
    showProgram(attempt(number), program);
    for (const name of Object.keys(solve.usage)) solve.usage[name] += usage[name];
    solve.reading = 0;
    figures();
  },
  RunStarted({ attempt: number }) {
    const view = attempt(number); // a plan that was approved runs its program once more
    solve.calls -= view.made;
    view.made = 0;
    view.rows.clear();
    view.calls.replaceChildren();
    view.output.replaceChildren();
    view.output.hidden = true;
    status("Running the program");
  },
  CallBegan({ attempt: number, index, tool, line }) {
    callRow(attempt(number), index, tool, line);
    status(`Calling ${visible(tool ?? "the service")}`);
  },
  CallMade({ attempt: number, call }) {
    const view = attempt(number);
    const row = callRow(view, call.index, call.tool, call.line);
    const failed = call.status === null || call.status >= 400;
    const reply = call.error ?? json(call.response, 2);
    const state = `${call.status ?? (call.refused ? "not sent" : "no reply")}`;
    const place = [
      `call ${call.index + 1}`,
      call.line && `line ${call.line}`,
      call.ms && `${Math.round(call.ms)} ms`,
      call.simulated && "simulated",
      call.replayed && "as recorded",
    ];
    const name = element(
      "code",
      "",
      call.tool ?? call.url ?? "request",
      element("span", "quiet", ` ${cut(json(call.arguments ?? {}), 200)}`),
    );
    row.replaceChildren(
      element("span", failed ? "state failed" : "state good", state),
      element("details", "", element("summary", "", name), element("pre", "", cut(reply, SHOWN))),
      element("small", "", place.filter(Boolean).join(" · ")),
    );
    solve.calls += 1;
    view.made += 1;
    figures();
  },
  OutputPrinted({ attempt: number, text }) {
    const { output } = attempt(number);
    output.hidden = false;
    if (output.textContent.length < SHOWN) output.append(visible(text));
  },
  FaultFound({ attempt: number, fault, attribution }) {
    const view = attempt(number);
    const lines = [element("p", "", element("b", "", fault.type), `: ${fault.message}`)];
    if (attribution?.tool)
      lines.push(element("p", "quiet", "The call to blame: ", element("code", "", attribution.tool)));
    view.fault.className = "fault";
    view.fault.replaceChildren(...lines);
    view.program.children[(fault.line ?? 0) - 1]?.classList.add("failed");
  },
  PlanAsked: showPlan,
  PlanAnswered({ approved }) {
    hidePlan();
    status(approved ? "Approved; the program runs again and sends the writes" : "Declined; nothing is sent");
  },
  Solution(solution, broken) {
    const { usage, answer, standing, message, note, findings = [] } = solution;
    const isFirst = solve.attempts.size === 0;
    if (isFirst) $("asked").textContent = visible(solution.query);
    Object.assign(solve, {
      usage,
      reading: 0,
      calls: solution.attempts.reduce((sum, { calls }) => sum + calls.length, 0),
      model: solution.versions?.model ?? "",
    });
    figures();
    $("answer").className =
      answer === null ? "none" : standing === "doubtful" || standing === "unsupported" ? "doubtful" : "good";
    $("answer").replaceChildren(
      element("pre", "", answer ?? `No answer${message ? `: ${message}` : ""}`),
      ...(answer !== null && note ? [element("p", "quiet", note)] : []),
      ...findings.map((finding) => element("p", "quiet", `${finding.kind}: ${finding.message}`)),
    );
    $("answer").hidden = false;
    $("open-record").hidden = false;
    // Of a solve that was over before, or that broke off, the record alone has everything.
    if (isFirst || broken) showRecord();
    return over(answer === null ? `Ended: ${solution.status}` : (ANSWERED[standing] ?? "Answered"));
  },
  Cancelled: ({ error }) => over(visible(error.message)),
};

// The record: the page of `atc trace`, in a frame that can do nothing

async function showRecord() {
  const { id } = solve;
  try {
    const page = await (await request("GET", `/v1/solve/${encodeURIComponent(id)}/page`)).text();
    if (solve.id !== id) return;
    const frame = element("iframe");
    // No script, form, window or address of its own; "same-origin" lets its links lead to its own parts.
    frame.setAttribute("sandbox", "allow-same-origin");
    frame.title = "The record of this solve";
    frame.src = URL.createObjectURL(new Blob([page], { type: "text/html" }));
    frame.addEventListener("load", () => URL.revokeObjectURL(frame.src), { once: true });
    $("record").replaceChildren(frame);
    $("record-button").setAttribute("aria-expanded", "true");
    $("record-button").textContent = "Close the record";
  } catch (error) {
    $("error").textContent = error.message;
  }
}

function closeRecord() {
  $("record").replaceChildren();
  $("record-button").setAttribute("aria-expanded", "false");
  $("record-button").textContent = "Show the whole record";
}

// The list, the form, the keys

async function listPast() {
  const { solves } = await (await request("GET", "/v1/solve")).json();
  const rows = solves.map(({ id, query, state, status: end, accepted, asks }) => {
    const name = asks ? "asks you" : state === "done" ? (end ?? "done") : state;
    const link = element(
      "a",
      "",
      element("span", "query", query),
      element(
        "small",
        asks ? "asks" : "",
        `${name} · ${new Date(accepted * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}`,
      ),
    );
    link.href = `#${id}`;
    if (id === solve?.id) link.setAttribute("aria-current", "true");
    return element("li", "", link);
  });
  const focused = $("past").contains(document.activeElement) ? document.activeElement.hash : null;
  $("past").replaceChildren(
    ...(rows.length ? rows : [element("li", "quiet", "None yet. Results are kept for 7 days.")]),
  );
  if (focused)
    $("past")
      .querySelector(`a[href="${CSS.escape(focused)}"]`)
      ?.focus();
  return solves;
}

// Where it fails the old list stays: the open solve tells that the server is away.
const refreshPast = () => listPast().catch(() => []);

let pending = null; // the question under way, with the key that keeps a repeated one from being asked twice

async function ask(event) {
  event.preventDefault();
  const query = $("question").value.trim();
  if (!query) return;
  if (pending?.query !== query)
    pending = { query, key: Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(16)).join("-") };
  const button = $("ask").querySelector("button");
  button.disabled = true;
  $("error").textContent = "";
  try {
    const body = { query, background: true, events: true };
    const { id } = await (
      await request("POST", "/v1/solve", { body, headers: { "Idempotency-Key": pending.key } })
    ).json();
    pending = null;
    $("question").value = "";
    location.hash = id;
  } catch (error) {
    $("error").textContent = error instanceof Refused ? error.message : "The server cannot be reached; ask again.";
  }
  button.disabled = false;
}

async function openSolve() {
  const id = location.hash.slice(1);
  if (!id) return;
  const solves = await refreshPast();
  watch(id, solves.find((row) => row.id === id)?.query ?? "");
  refreshPast(); // marks the open one
}

async function start() {
  try {
    await listPast();
  } catch (error) {
    if (!(error instanceof Refused)) $("error").textContent = "The server cannot be reached.";
    if (error.status === 401) return;
  }
  $("login").hidden = true;
  $("app").hidden = false;
  $("question").focus();
  openSolve();
}

$("login").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("key", $("key").value.trim());
  start();
});
$("ask").addEventListener("submit", ask);
$("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    $("ask").requestSubmit();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || $("app").hidden) return;
  if ($("record").firstChild) {
    closeRecord();
    $("record-button").focus();
  } else $("question").focus();
});
$("approve").addEventListener("click", () => answerPlan(true));
$("decline").addEventListener("click", () => answerPlan(false));
$("stop").addEventListener("click", () =>
  request("DELETE", `/v1/solve/${encodeURIComponent(solve.id)}`).catch(
    (error) => ($("error").textContent = error.message),
  ),
);
$("record-button").addEventListener("click", () => ($("record").firstChild ? closeRecord() : showRecord()));
window.addEventListener("hashchange", openSolve);
document.addEventListener("visibilitychange", () => !document.hidden && !$("app").hidden && refreshPast());
start();
