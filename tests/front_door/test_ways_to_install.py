"""A message about a missing extra has the command that adds it to this installation, however it was made.

A stand-in for the distribution holds the module that composes the command, and nothing else: pip, uv and pipx install
it as they install the whole. Each command that it prints is run, without an index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from protocols import installed_from

PYPROJECT = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "atc-toolchain"
version = "0"
scripts = { atc-stand-in = "stand_in:main" }
optional-dependencies = { tui = ["screen-stand-in>=1"], mcp = ["protocol-stand-in>=1"] }
"""
STAND_IN = """import sys
from protocols.installed_from import extra_command

def main() -> None:
    packages = {"tui": ["screen-stand-in"], "mcp": ["protocol-stand-in"]}
    print(extra_command(sys.argv[1], packages[sys.argv[1]]))
"""
BACKEND = '''"""Builds the wheels of this folder without any package."""
import zipfile
from pathlib import Path

EXTRAS = {"tui": "screen-stand-in>=1", "mcp": "protocol-stand-in>=1"}
HERE = Path(__file__).parent


def write(folder, name, version, files, more=""):
    wheel, info = f"{name}-{version}-py3-none-any.whl", f"{name}-{version}.dist-info"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\\nName: {name.replace('_', '-')}\\nVersion: {version}\\n{more}"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\\nGenerator: here\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    if more:
        files[f"{info}/entry_points.txt"] = "[console_scripts]\\natc-stand-in = stand_in:main\\n"
    files[f"{info}/RECORD"] = "".join(f"{file},,\\n" for file in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(Path(folder, wheel), "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return wheel


def build(folder, files):
    more = "".join(f"Provides-Extra: {k}\\nRequires-Dist: {need}; extra == '{k}'\\n" for k, need in EXTRAS.items())
    return write(folder, "atc_toolchain", "0", files, more)


def build_wheel(folder, config_settings=None, metadata_directory=None):
    names = ("stand_in.py", "protocols/__init__.py", "protocols/installed_from.py")
    return build(folder, {name: (HERE / name).read_text() for name in names})


def build_editable(folder, config_settings=None, metadata_directory=None):
    return build(folder, {"stand_in.pth": f"{HERE}\\n"})


if __name__ == "__main__":
    for name in ("screen_stand_in", "protocol_stand_in"):
        write(HERE / "index", name, "1", {f"{name}.py": ""})
    build_wheel(HERE / "index")
'''


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of the stand-in, with its wheel and those of its extras in `index`."""
    folder = tmp_path_factory.mktemp("a checkout")
    for name in ("protocols", "index"):
        (folder / name).mkdir()
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "backend.py").write_text(BACKEND)
    (folder / "stand_in.py").write_text(STAND_IN)
    (folder / "protocols" / "__init__.py").touch()
    shutil.copy(installed_from.__file__, folder / "protocols")
    subprocess.run([sys.executable, "backend.py"], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def pip_environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with pip, which takes three seconds to make; tests copy it."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(folder, with_pip=True, symlinks=True)
    return folder


class Machine:
    """A user's machine: an own home, no index but the project's, and the commands that are typed there."""

    def __init__(self, project: Path, home: Path) -> None:
        self.project, self.home = project, home
        foreign = ("PIP_", "UV_", "PIPX_", "PYTHON", "VIRTUAL_ENV", "XDG_")
        self.environment = {key: text for key, text in os.environ.items() if not key.startswith(foreign)}
        self.environment |= {
            "HOME": str(home),
            "PATH": f"{home / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": (project / "index").as_uri(),
            "PIP_CONFIG_FILE": os.devnull,
            "UV_NO_INDEX": "1",
            "UV_FIND_LINKS": (project / "index").as_uri(),
            "UV_PYTHON": sys.executable,
            "UV_TOOL_BIN_DIR": str(home / "bin"),
            "PIPX_HOME": str(home / "pipx"),
            "PIPX_BIN_DIR": str(home / "bin"),
        }

    def run(self, command: str, folder: Path | None = None) -> str:
        """What a shell command prints."""
        words = {"shell": True, "cwd": folder or self.home, "env": self.environment}
        process = subprocess.run(command, capture_output=True, text=True, **words)  # type: ignore[call-overload]
        assert process.returncode == 0, f"{command}\n{process.stdout}{process.stderr}"
        return str(process.stdout).strip()

    def has(self, python: Path, *modules: str) -> bool:
        """True if an environment can import the modules."""
        command = [str(python), "-c", f"import {', '.join(modules)}"]
        return subprocess.run(command, env=self.environment, cwd=self.home, capture_output=True).returncode == 0


@pytest.fixture
def machine(project: Path, tmp_path: Path) -> Machine:
    return Machine(project, tmp_path)


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skip where a program is not installed."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    absent = [name for name in programs if shutil.which(name, path=path) is None]
    return pytest.mark.skipif(bool(absent), reason=f"not installed: {', '.join(absent)}")


def with_both_extras(machine: Machine, command: Path, python: Path) -> tuple[str, str]:
    """Add two extras, one after the other, by what is printed; both are there afterwards."""
    printed = []
    for extra in ("tui", "mcp"):
        printed.append(machine.run(f"{command} {extra}"))
        machine.run(printed[-1])
    assert machine.has(python, "screen_stand_in", "protocol_stand_in"), printed
    return printed[0], printed[1]


@pytest.mark.parametrize("editable", ["", "-e "])
def test_pip_in_a_virtual_environment(machine: Machine, pip_environment: Path, editable: str) -> None:
    """From a folder, or from a checkout that stays in use: the same with the extra, by the pip of this environment."""
    folder = shutil.copytree(pip_environment, machine.home / "venv", symlinks=True)
    machine.run(f"{folder}/bin/python -m pip install {editable}.", machine.project)

    first, _ = with_both_extras(machine, folder / "bin" / "atc-stand-in", folder / "bin" / "python")
    assert first == f"./venv/bin/python -m pip install {editable}'{machine.project}[tui]'"
    machine.environment["PATH"] = f"{folder / 'bin'}:{machine.environment['PATH']}"
    assert machine.run("atc-stand-in tui") == f"pip install {editable}'{machine.project}[tui]'"
    assert machine.run("atc-stand-in tui", machine.project) == f"pip install {editable}'.[tui]'"


def test_a_wheel_and_when_it_is_gone(machine: Machine, pip_environment: Path) -> None:
    """The wheel with the extra; later the packages of the extra, which are on the index."""
    folder = shutil.copytree(pip_environment, machine.home / "venv", symlinks=True)
    wheel = machine.home / "atc_toolchain-0-py3-none-any.whl"
    shutil.copy(machine.project / "index" / wheel.name, wheel)
    machine.run(f"{folder}/bin/python -m pip install {wheel}")

    with_wheel = machine.run("venv/bin/atc-stand-in tui")
    machine.run(with_wheel)
    wheel.unlink()
    without_wheel = machine.run("venv/bin/atc-stand-in mcp")
    machine.run(without_wheel)
    assert with_wheel == f"./venv/bin/python -m pip install './{wheel.name}[tui]'"
    assert without_wheel == "./venv/bin/python -m pip install protocol-stand-in"
    assert machine.has(folder / "bin" / "python", "screen_stand_in", "protocol_stand_in")


@needs("uv")
def test_uv_in_a_virtual_environment(machine: Machine) -> None:
    """Its environments have no pip."""
    machine.run(f"uv venv venv && uv pip install --python venv {str(machine.project)!r}")

    printed, _ = with_both_extras(
        machine, *(machine.home / "venv" / "bin" / name for name in ("atc-stand-in", "python"))
    )
    assert printed == f"uv pip install --python ./venv/bin/python '{machine.project}[tui]'"


@needs("uv")
@pytest.mark.parametrize("source", [".", "--editable .", "index/atc_toolchain-0-py3-none-any.whl"])
def test_uv_tool(machine: Machine, source: str) -> None:
    """The tool is installed anew, with the extras and the packages that it had."""
    machine.run(f"uv tool install {source} --with protocol-stand-in", machine.project)
    folder = Path(machine.run("uv tool dir")) / "atc-toolchain"

    first, second = with_both_extras(machine, machine.home / "bin" / "atc-stand-in", folder / "bin" / "python")
    assert first.startswith("uv tool install ") and first.endswith("[tui]'")
    assert "--with protocol-stand-in" in first and second.endswith("[tui,mcp]'")


@needs("pipx")
def test_pipx(machine: Machine) -> None:
    """The packages of the extra are injected: they stay when the next extra is added."""
    machine.run("pipx install .", machine.project)
    python = machine.home / "pipx" / "venvs" / "atc-toolchain" / "bin" / "python"

    printed, _ = with_both_extras(machine, machine.home / "bin" / "atc-stand-in", python)
    assert printed == "pipx inject atc-toolchain screen-stand-in"
