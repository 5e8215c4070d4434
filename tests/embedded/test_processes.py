import os
import signal
import subprocess
import sys
import textwrap

import psutil
import pytest

from memory_project.embedded import ServerError
from memory_project.embedded.account import Account
from memory_project.embedded.processes import Child, serves, stop_leftovers, tail, wait_until

DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"


@pytest.fixture
def child(tmp_path):
    """Make children that are stopped after the test."""
    made = []

    def make(*command, **options):
        made.append(Child("The child", command, log=tmp_path / "child.log", environment=os.environ, **options))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def lives(pid):
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


@pytest.mark.slow
def test_a_child_dies_with_its_killed_parent(tmp_path):
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(f"""
                import pathlib, time
                from memory_project.embedded.processes import Child
                child = Child("x", ["sleep", "60"], log=pathlib.Path({str(tmp_path / "log")!r}), environment={{}})
                child.start()
                print(child.pid, flush=True)
                time.sleep(60)
            """),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    pid = int(parent.stdout.readline())
    assert lives(pid)
    parent.kill()
    parent.wait()
    assert wait_until(lambda: not lives(pid), 5)


def test_what_a_dead_child_leaves_in_its_session_is_killed(child, tmp_path):
    leader = child("sh", "-c", "sleep 60 & echo $!; exit 3")
    leader.start()
    assert wait_until(lambda: not leader.running(), 5)
    assert leader.pid is None
    assert leader.ending == "exit status 3"
    left = int((tmp_path / "child.log").read_text())
    assert wait_until(lambda: not lives(left), 5)


def test_a_child_that_ignores_the_first_signal_gets_a_harder_one(child, tmp_path):
    deaf = child(sys.executable, "-c", DEAF, stop_signals=[(signal.SIGTERM, 0.1)])
    deaf.start()
    assert wait_until(lambda: "deaf" in (tmp_path / "child.log").read_text(), 10)
    deaf.ask_to_stop()
    assert deaf.running()
    deaf.stop()
    assert deaf.ending == "killed by SIGKILL"
    deaf.stop()


def test_a_child_never_started_has_nothing_to_stop(child):
    idle = child("sleep", "60")
    idle.ask_to_stop()
    idle.stop()
    assert not idle.running()


def test_a_program_that_does_not_exist_is_named(child):
    with pytest.raises(ServerError, match=r"The child can't be started: .*nowhere"):
        child("/nowhere/at/all").start()


def test_a_long_log_makes_room(child, tmp_path):
    log = tmp_path / "child.log"
    log.write_bytes(b"x" * 10_000_001)
    short = child("echo", "hello")
    short.start()
    assert wait_until(lambda: not short.running(), 5)
    assert log.read_text() == "hello\n"
    assert (tmp_path / "child.log.1").stat().st_size == 10_000_001
    assert log.stat().st_mode & 0o777 == 0o600


def test_tail_returns_the_last_lines_indented(tmp_path):
    log = tmp_path / "log"
    assert tail(log) == ""
    log.write_text("".join(f"line {number}\n" for number in range(100)))
    assert tail(log, 2) == "    line 98\n    line 99"


def test_only_processes_proven_ours_are_stopped(tmp_path):
    mine, other = tmp_path / "mine", tmp_path / "mine too"
    sleepers = [subprocess.Popen(["sh", "-c", "read line", str(name)], stdin=subprocess.PIPE) for name in (mine, other)]
    account = Account.current()
    try:
        assert wait_until(lambda: all(psutil.Process(each.pid).name() == "sh" for each in sleepers), 5)
        assert stop_leftovers(lambda process: serves(process, "bash", str(mine), account)) == 0
        stranger = Account("stranger", account.uid + 1, account.gid)
        assert stop_leftovers(lambda process: serves(process, "sh", str(mine), stranger)) == 0
        assert stop_leftovers(lambda process: serves(process, "sh", str(mine), account), [(signal.SIGTERM, 5)]) == 1
        assert sleepers[0].wait(5) == -signal.SIGTERM
        assert sleepers[1].poll() is None
    finally:
        for each in sleepers:
            each.kill()
            each.communicate()


def test_a_leftover_that_ignores_the_gentle_signal_is_killed(tmp_path):
    deaf = subprocess.Popen([sys.executable, "-c", DEAF, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    deaf.stdout.readline()
    assert stop_leftovers(lambda process: str(tmp_path) in process.cmdline(), [(signal.SIGTERM, 0.1)]) == 1
    assert deaf.wait(5) == -signal.SIGKILL
    deaf.stdout.close()
