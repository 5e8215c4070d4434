import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from memory_project import supervisor as module
from memory_project.embedded import ServerError
from memory_project.embedded.processes import Child, wait_until
from memory_project.supervisor import Supervisor, say


@pytest.fixture
def supervisor(monkeypatch):
    """A supervisor that waits a hundredth of the real times between restarts."""
    monkeypatch.setattr(module, "_FIRST_DELAY_SECONDS", 0.005)
    monkeypatch.setattr(module, "_POLL_SECONDS", 0.01)
    made = Supervisor([])
    yield made
    made.stop()


def child(tmp_path, *command):
    return Child("The child", command, log=tmp_path / "child.log", environment=os.environ)


def test_a_child_that_dies_is_started_again_and_said_so(supervisor, tmp_path, capsys):
    sleeper = child(tmp_path, "sleep", "60")
    supervisor.start(sleeper)
    first = sleeper.pid
    os.kill(first, signal.SIGKILL)
    assert supervisor.watch(lambda: sleeper.pid not in (None, first), 10)
    assert "The child ended (killed by SIGKILL); starting it again in" in capsys.readouterr().out


def test_a_child_that_keeps_dying_ends_the_watch_with_its_log(supervisor, tmp_path, capsys):
    supervisor.start(child(tmp_path, "sh", "-c", "echo no luck; exit 7"))
    with pytest.raises(ServerError, match=r"The child keeps ending \(exit status 7\)(.|\n)*no luck"):
        supervisor.watch()
    assert capsys.readouterr().out.count("starting it again") == 5


def test_a_child_that_ran_steadily_starts_its_count_anew(supervisor, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_STEADY_SECONDS", 0.0)
    supervisor.start(child(tmp_path, "sh", "-c", "echo started"))
    log = tmp_path / "child.log"
    assert supervisor.watch(lambda: log.exists() and log.read_text().count("started") > 8, 30)


def test_the_log_of_a_child_that_says_much_stays_within_bounds(supervisor, tmp_path, monkeypatch):
    monkeypatch.setattr("memory_project.embedded.processes._LOG_BYTES", 20_000)
    log, kept = tmp_path / "child.log", tmp_path / "child.log.1"
    talker = child(tmp_path, sys.executable, "-uc", "import itertools as i\nfor n in i.count(): print(n)")
    supervisor.start(talker)
    first = talker.pid
    assert supervisor.watch(lambda: kept.exists() and not kept.read_text().startswith("0\n"), 20)
    assert talker.pid == first
    talker.stop()
    lines = log.read_bytes().split()
    assert all(line.isdigit() for line in lines)
    assert kept.stat().st_mode & 0o777 == 0o600


def test_watching_ends_when_the_time_is_over(supervisor):
    assert not supervisor.watch(seconds=0.05)


def test_stop_ends_what_was_started_and_leaves_the_given_servers(tmp_path):
    server, web = child(tmp_path, "sleep", "60"), child(tmp_path, "sleep", "60")
    server.start()
    watching = Supervisor([server])
    watching.start(web)
    watching.stop()
    assert server.running()
    assert not web.running()
    server.stop()


def test_a_console_that_is_gone_stops_nothing(monkeypatch):
    class Gone:
        def write(self, text):
            raise OSError("Input/output error")

    monkeypatch.setattr(sys, "stdout", Gone())
    say("anybody there?")


PROGRAM = """
    import time
    from memory_project import supervisor
    supervisor._HURRY_SECONDS = 0.5
    supervisor.raise_stop_on_signals()
    try:
        print("ready", flush=True)
        time.sleep(60)
    except supervisor.Stop:
        print("stopping", flush=True)
        time.sleep(%s)
        print("stopped", flush=True)
"""


def start_program(seconds, **options):
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM % seconds)], stdout=subprocess.PIPE, text=True, **options
    )
    assert program.stdout.readline() == "ready\n"
    return program


@pytest.mark.slow
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_one_request_to_stop_that_arrives_twice_is_one(signum):
    # The tests may run under nohup themselves, and what is ignored there would stay ignored.
    with start_program(0.2, preexec_fn=lambda: signal.signal(signum, signal.SIG_DFL)) as program:
        program.send_signal(signum)
        assert program.stdout.readline() == "stopping\n"
        program.send_signal(signum)
        assert program.communicate(timeout=20)[0] == "stopped\n"
        assert program.returncode == 0


@pytest.mark.slow
def test_a_second_request_to_stop_is_obeyed_at_once():
    with start_program(60) as program:
        program.send_signal(signal.SIGINT)
        assert program.stdout.readline() == "stopping\n"
        time.sleep(0.6)
        program.send_signal(signal.SIGINT)
        assert program.wait(20) == 1


@pytest.mark.slow
def test_an_ignored_hang_up_stays_ignored():
    with start_program(0, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as program:
        program.send_signal(signal.SIGHUP)
        assert not wait_until(lambda: program.poll() is not None, 0.3)
        program.send_signal(signal.SIGTERM)
        assert program.communicate(timeout=20)[0] == "stopping\nstopped\n"
