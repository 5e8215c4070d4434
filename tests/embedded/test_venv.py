import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from memory_project import venv


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """An empty checkout with a lock file that names no package, as the current directory."""
    place = tmp_path / "a check out"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "argv", ["venv.py", "requirements.txt"])
    Path("requirements.txt").write_text("# nothing\n")
    return place


@pytest.mark.slow
def test_an_environment_is_made_once_and_mended_when_something_changes(checkout, monkeypatch, capfd):
    venv.main()
    assert "Making .venv" in capfd.readouterr().out
    assert subprocess.check_output([venv.PYTHON, "-c", "import sys; print(sys.prefix)"], text=True).strip() == str(
        checkout / ".venv"
    )
    venv.main()
    assert capfd.readouterr().out == ""

    Path("requirements.txt").write_text("# nothing new\n")
    venv.main()
    changed_lock = capfd.readouterr().out
    assert "Installing" in changed_lock
    assert "Making" not in changed_lock

    monkeypatch.setattr(sys, "version", "3.99 " + sys.version)
    made = []
    monkeypatch.setattr(venv, "make_venv", lambda: made.append("anew") or {"python": venv.this_python(), "locks": {}})
    venv.main()
    venv.main()
    assert made == ["anew"]


def test_two_at_once_take_turns(checkout, monkeypatch, capfd):
    (checkout / ".venv" / "bin").mkdir(parents=True)
    lock = hashlib.sha256(Path("requirements.txt").read_bytes()).hexdigest()
    venv.STAMP.write_text(json.dumps({"python": venv.this_python(), "locks": {"requirements.txt": lock}}))
    monkeypatch.setattr(venv, "runs", lambda program: True)
    Path("var").mkdir()
    with Path("var", "venv.lock").open("w") as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        second = threading.Thread(target=venv.main)
        second.start()
        said = ""
        while "Waiting for another make" not in said:
            said += capfd.readouterr().out
        assert second.is_alive()
    second.join(20)
    assert not second.is_alive()


def test_packages_that_can_not_be_installed_are_tried_again(checkout, monkeypatch):
    (checkout / ".venv" / "bin").mkdir(parents=True)
    venv.PYTHON.symlink_to(shutil.which("false"))
    monkeypatch.setattr(venv, "runs", lambda program: True)
    venv.STAMP.write_text(json.dumps({"python": venv.this_python(), "locks": {"requirements.txt": "other"}}))
    with pytest.raises(SystemExit, match="could not be installed"):
        venv.main()
    assert venv.read_stamp() == {}


def test_an_environment_that_can_not_be_made_says_why(checkout, monkeypatch):
    monkeypatch.setattr(sys, "_base_executable", shutil.which("false"))
    with pytest.raises(SystemExit, match="python3-venv"):
        venv.main()


def test_an_old_python_hands_over_to_a_newer_one(checkout, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name in ("python3.14", "python3.12") else None)
    monkeypatch.setattr(venv, "runs", lambda program: program != "/bin/python3.14")
    started = []

    def execute(program, arguments):
        started.extend([program, *arguments])
        raise SystemExit

    monkeypatch.setattr(os, "execv", execute)
    with pytest.raises(SystemExit):
        venv.main()
    assert started == ["/bin/python3.12", "/bin/python3.12", "-I", "venv.py", "requirements.txt"]


def test_an_old_python_alone_is_told_what_is_needed(checkout, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match=r"needs Python 3.11 or newer and found 3\.9\.1"):
        venv.main()


def test_a_python_that_does_not_start_does_not_run(tmp_path):
    assert venv.runs(sys.executable)
    assert not venv.runs(tmp_path / "python")
    assert not venv.runs(shutil.which("false"))


@pytest.mark.parametrize(
    ("error", "told"),
    [(PermissionError(13, "denied", ".venv"), "^.venv belongs to another user"), (KeyboardInterrupt(), "^130$")],
)
def test_what_stops_the_making_is_told_without_a_trace(checkout, monkeypatch, error, told):
    def fail(lock_file):
        raise error

    monkeypatch.setattr(venv, "fit_environment", fail)
    with pytest.raises(SystemExit, match=told):
        venv.main()


def test_the_lock_names_whatever_its_packages_need():
    checked = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
