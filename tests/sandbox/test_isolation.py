"""Each wall around a program by itself: what it forbids goes before it is up, and fails after."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from protocols.errors import UsageError
from sandbox import Sandbox
from sandbox.pool.workers import readable_folders, system_call_filter
from tests.sandbox.runs import children

START = """
import ctypes, json, os, socket, sys, threading
from sandbox.child.isolation import LAYERS, Walls, confine
rules, readable, folder, server = json.loads(sys.argv[1])
walls = Walls(parent=os.getppid(), folder=folder, readable=readable, filter=bytes.fromhex(rules), why_none="")
def up(*names):
    for name in names:
        dict(LAYERS)[name](walls)
def refused(action):
    try:
        action()
    except (OSError, MemoryError) as error:
        return True
    return False
def status(name):
    return next(line.split()[1] for line in open("/proc/self/status") if line.startswith(name + ":"))
def thread():
    one = threading.Thread(target=print)
    one.start()
    one.join()
assert not refused(lambda: socket.create_connection(("127.0.0.1", server)).close())
"""

WALLS = {
    "folder": """
up("folder")
assert os.listdir(".") == []
assert not os.path.exists(folder)
""",
    "no_new_privs": """
up("no_new_privs")
assert status("NoNewPrivs") == "1"
""",
    "network namespace": """
up("no_new_privs", "user namespace", "network namespace")
assert refused(lambda: socket.create_connection(("127.0.0.1", server)))
""",
    "parent": """
import signal
up("no_new_privs", "user namespace", "capabilities", "parent")
told = ctypes.c_int()
assert ctypes.CDLL(None).prctl(2, ctypes.byref(told), 0, 0, 0) == 0
assert told.value == signal.SIGKILL
""",
    "commands on descriptors": """
import fcntl, signal, struct, termios
ours, theirs = socket.socketpair()
fcntl.fcntl(ours, fcntl.F_SETOWN, os.getpid())
fcntl.ioctl(ours, termios.FIONREAD, bytes(4))
up("no_new_privs", "seccomp")
owner = struct.pack("ii", 1, os.getppid())
for command, value in (
    (fcntl.F_SETOWN, os.getppid()), (10, 9), (15, owner), (fcntl.F_NOTIFY, 1), (1024, 0), (fcntl.F_SETFL, 0x2000),
    (fcntl.F_SETOWN | 1 << 32, os.getppid()),
):
    if command < 1 << 31:
        assert refused(lambda: fcntl.fcntl(ours, command, value)), command
    else:
        assert ctypes.CDLL(None).syscall(72, ours.fileno(), ctypes.c_ulong(command), value) < 0
for command in (0x8901, 0x8902, 0x5452, 0x5412, 0x540E):  # FIOSETOWN, SIOCSPGRP, FIOASYNC, TIOCSTI, TIOCSCTTY
    assert refused(lambda: fcntl.ioctl(ours, command, struct.pack("i", os.getppid()))), hex(command)
ours.setblocking(False)
ours.settimeout(1)
fcntl.ioctl(ours, termios.FIONREAD, bytes(4))
assert fcntl.fcntl(ours, fcntl.F_GETFL) & os.O_NONBLOCK
sys.stdin.isatty()
""",
    "capabilities": """
up("no_new_privs", "user namespace", "capabilities")
assert int(status("CapEff"), 16) == int(status("CapPrm"), 16) == 0
assert refused(lambda: os.chroot("/"))
""",
    "landlock": """
assert not refused(lambda: open("/etc/passwd").close())
up("no_new_privs", "landlock")
assert refused(lambda: open("/etc/passwd"))
assert refused(lambda: open(folder, "w"))
assert refused(lambda: os.listdir("/"))
assert not refused(lambda: open(os.__file__).close())
""",
    "seccomp": """
up("no_new_privs", "seccomp")
assert refused(os.fork)
assert refused(socket.socket)
assert refused(lambda: os.kill(os.getppid(), 0))
assert refused(lambda: os.execv(sys.executable, ["python"]))
assert refused(lambda: open(folder, "w"))
assert ctypes.CDLL(None).ptrace(0, 0, 0, 0) == -1
thread()
""",
    "everything at once": """
import fcntl, resource, struct
parent = os.getppid()
pair = socket.socketpair()
up(*dict(LAYERS))
confine(5, 2 * 1024**3)
libc = ctypes.CDLL(None, use_errno=True)
def denied(number, *arguments):
    ctypes.set_errno(0)
    given = [part if isinstance(part, bytes) else ctypes.c_long(part) for part in arguments]
    return libc.syscall(ctypes.c_long(number), *given) == -1 and ctypes.get_errno() != 0
if os.uname().machine == "x86_64":
    signals = (62, 200, 234, 129, 297, 424, 434, 438)  # kill … pidfd_getfd
    memory = (101, 310, 311, 312, 323, 279, 256, 440)  # ptrace, process_vm_readv …, kcmp, userfaultfd, move_pages
    kernel = (321, 298, 425, 426, 427, 248, 249, 250, 175, 246, 169, 167, 103, 154, 317, 444)  # bpf, io_uring, keys …
    spaces = (308, 272, 165, 166, 155, 161, 428, 430, 429, 442, 135, 170)  # setns, unshare, mount …, personality
    files = (2, 437, 303, 304, 319, 447, 85, 133, 86, 88, 87, 82, 90, 76, 280, 294, 300, 81, 33)  # open … memfd_create
    others = (41, 53, 49, 42, 29, 68, 64, 240, 222, 283, 289, 109, 112, 141, 203, 151, 160, 435, 57, 58, 59, 322, 275)
    for number in (*signals, *memory, *kernel, *spaces, *files, *others):
        assert denied(number, parent, 0, 0, 0, 0, 0), number
    thread_of = 0x10000 | 0x800 | 0x100
    for namespace in (0x10000000, 0x20000000, 0x40000000, 0x02000000):  # user, pid, net, cgroup
        assert denied(56, thread_of | namespace, 0, 0, 0, 0), hex(namespace)
    assert denied(302, parent, resource.RLIMIT_CPU, 0, 0)  # prlimit64 of another
    assert denied(257, -100, b"made", 1 << 32 | os.O_CREAT | os.O_WRONLY, 0o600)
for what in ("environ", "mem", "maps", "cmdline", "fd/0"):
    assert refused(lambda: open(f"/proc/{parent}/{what}", "rb").read(1)), what
    assert refused(lambda: open(f"/proc/self/{what}", "rb").read(1)), what
for link in ("cwd", "exe", "root", "fd/0", "ns/net"):
    assert refused(lambda: os.readlink(f"/proc/{parent}/{link}")), link
for place in ("/proc", "/tmp", "/root", "/dev/shm", "..", "/dev/mem", "/dev/zero", "/etc/hostname"):
    assert refused(lambda: os.listdir(place) if os.path.isdir(place) else open(place, "rb")), place
try:
    resource.setrlimit(resource.RLIMIT_CPU, (100, 100))
    raise AssertionError("a limit was raised")
except ValueError:
    pass
assert refused(lambda: pair[0].sendto(b"x", "\\0elsewhere"))
""",
    "the other ways to number system calls": """
up("no_new_privs", "seccomp")
if os.uname().machine == "x86_64":
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(ctypes.c_long(0x40000000 | 57))  # fork as x32 has it: the process is killed, or the call is not there
    assert ctypes.get_errno() != 0
""",
    "rlimits": """
confine(5, 2 * 1024**3)
assert refused(lambda: bytearray(4 * 1024**3))
assert refused(lambda: [open(os.__file__) for _ in range(64)])
""",
}


@pytest.mark.parametrize("name", WALLS)
def test_each_wall_by_itself(name: str, tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        settings = [system_call_filter()[0].hex(), readable_folders(), str(tmp_path / "own"), server.getsockname()[1]]
        process = subprocess.run(
            [sys.executable, "-c", START + WALLS[name], json.dumps(settings)], capture_output=True, text=True
        )

    killed = name == "the other ways to number system calls" and process.returncode == -signal.SIGSYS
    assert killed or process.returncode == 0, process.stderr


def test_a_worker_has_no_environment_and_no_descriptors_but_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "hunter2")
    sandbox = Sandbox(None)
    sandbox.run("print(1)")
    time.sleep(0.3)
    servers = children()
    workers = [w for server in servers for w in Path(f"/proc/{server}/task/{server}/children").read_text().split()]
    inspected = []
    for process in (*servers, *workers):
        try:
            environment = Path(f"/proc/{process}/environ").read_bytes().rstrip(b"\0")
            links = [str(entry.readlink()) for entry in Path(f"/proc/{process}/fd").iterdir()]
        except (FileNotFoundError, ProcessLookupError):  # a worker of an earlier run, which has ended meanwhile
            continue
        inspected.append(process)
        assert environment in (b"PYTHONHASHSEED=0", b"")
        assert all(link == "/dev/null" or link.startswith("socket:") or link.endswith("/status") for link in links)
    assert not set(servers).isdisjoint(inspected)
    assert not set(workers).isdisjoint(inspected)


def test_doctor_names_every_layer() -> None:
    result = CliRunner().invoke(main, ["doctor", "--json"])

    layers = json.loads(result.stdout)["layers"]
    names = "policy,process,folder,no_new_privs,user namespace,network namespace,"
    names += "capabilities,parent,landlock,seccomp,rlimits"
    assert [layer["name"] for layer in layers] == names.split(",")
    assert all(layer["active"] and not layer["reason"] for layer in layers)
    table = CliRunner().invoke(main, ["doctor", "--strict-sandbox"])
    assert table.exit_code == 0
    assert "landlock" in table.output


def test_a_missing_layer_is_a_warning_or_where_asked_for_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder can be made: the other layers stand, the program runs, and the run says what is missing."""
    from sandbox.pool import workers

    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    workers._stop_all()

    run = Sandbox(None).run("print(1)")
    with pytest.raises(UsageError, match="not whole on this machine: folder"):
        Sandbox(None, strict=True)
    workers._stop_all()

    assert run.outcome == "ok"
    assert [warning.partition(":")[0] for warning in run.warnings] == ["folder is not active"]
