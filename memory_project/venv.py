"""Sync the virtual environment with a lock file: ``python3 -I memory_project/venv.py requirements.txt``.

It runs before anything is installed, so it uses only the standard library, and reports a too old Python clearly. The
environment is recreated when Python changes, and packages are installed only when the lock file changed. Concurrent
runs wait for each other.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

OLDEST = (3, 11)
VENV = Path(".venv")
STAMP = VENV / "installed.json"
PYTHON = VENV / "bin" / "python"


def main() -> None:
    """Create or repair the environment in the current directory for the lock file named on the command line."""
    if sys.version_info[:2] < OLDEST:
        run_with_newer_python()
    try:
        fit_environment(Path(sys.argv[1]))
    except KeyboardInterrupt:
        sys.exit(130)
    except PermissionError as error:
        sys.exit(f"{error.filename} belongs to another user. Use this copy as that user, or remove .venv and var.")


def fit_environment(lock_file: Path) -> None:
    """Create the environment if it is missing or unusable, and install the lock file unless that was done."""
    Path("var").mkdir(mode=0o711, exist_ok=True)
    with Path("var", "venv.lock").open("w", encoding="utf-8") as turn:
        try:
            fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting for another make that installs packages\n")
            fcntl.flock(turn, fcntl.LOCK_EX)
        installed = read_stamp()
        if installed.get("python") != this_python() or not runs(PYTHON):
            installed = make_venv()
        digest = hashlib.sha256(lock_file.read_bytes()).hexdigest()
        if installed["locks"].get(lock_file.name) != digest:
            install(lock_file)
            installed["locks"][lock_file.name] = digest
            STAMP.write_text(json.dumps(installed), encoding="utf-8")


def say(text: str) -> None:
    """Print and flush."""
    sys.stdout.write(text)
    sys.stdout.flush()


def run_with_newer_python() -> None:
    """Re-execute with a newer Python of this machine, or exit with an explanation."""
    for minor in range(19, OLDEST[1] - 1, -1):
        program = shutil.which(f"python3.{minor}")
        if program and runs(program):
            os.execv(program, [program, "-I", *sys.argv])  # noqa: S606
    found = ".".join(str(part) for part in sys.version_info[:3])
    sys.exit(f"Keepsake needs Python 3.11 or newer and found {found}. Install one, or say which: make PYTHON=/path")


def runs(program: str | Path) -> bool:
    """Whether a Python interpreter starts."""
    try:
        return subprocess.run([program, "-c", ""], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def this_python() -> list[str]:
    """Return the version and prefix of Python; the environment is recreated when they change."""
    return [sys.version, sys.base_prefix]


def read_stamp() -> dict:
    """Return what was installed, or {} when that is unknown."""
    try:
        return json.loads(STAMP.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}


def make_venv() -> dict:
    """Create an empty environment, replacing an existing one."""
    say(f"Making .venv for Python {sys.version.split()[0]}\n")
    base = getattr(sys, "_base_executable", sys.executable)
    made = subprocess.run([base, "-m", "venv", "--clear", VENV], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        sys.exit(
            f"{made.stdout}{made.stderr}\nThe virtual environment could not be made. On Debian and Ubuntu its part of "
            "Python is a package of its own: apt install python3-venv"
        )
    return {"python": this_python(), "locks": {}}


def install(lock_file: Path) -> None:
    """Install exactly the packages of a lock file, checked by their hashes."""
    STAMP.unlink(missing_ok=True)
    say(f"Installing the packages of {lock_file} (the first time takes about a minute) ... ")
    began = time.monotonic()
    # The lock names every package. When resolving dependencies, older versions of pip take the newest version of a
    # package with an extra, and no hash of the lock matches it.
    options = ["--quiet", "--quiet", "--no-input", "--disable-pip-version-check", "--require-hashes", "--no-deps"]
    environment = {**os.environ, "PIP_USER": "0"}
    done = subprocess.run(
        [PYTHON, "-m", "pip", "install", *options, "--requirement", lock_file], env=environment, check=False
    )
    if done.returncode != 0:
        sys.exit("\nThe packages could not be installed; the reason is above. Correct it and run make again.")
    say(f"{time.monotonic() - began:.0f} s\n")


if __name__ == "__main__":
    main()
