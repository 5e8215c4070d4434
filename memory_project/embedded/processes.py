"""Child processes that never outlive this one, and cleanup of those left by an earlier start."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from .account import Account, ServerError

Signals = Sequence[tuple[signal.Signals, float]]

_PR_SET_PDEATHSIG = 1
_LOG_BYTES = 10_000_000
_LAST_RESORT = (signal.SIGKILL, 10.0)
_C_LIBRARY = ctypes.CDLL(None)


class Child:
    """A program that runs in its own session, writes to a log file and ends when this process does.

    ``stop_signals`` are pairs of a signal and the seconds to wait for the end, gentlest first; SIGKILL follows.
    ``orphan_signal`` is sent by the kernel when this process dies. The thread that starts the child has to live as
    long, so start children from the main thread.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        log: Path,
        environment: Mapping[str, str],
        directory: Path | str = "/",
        account: Account | None = None,
        stop_signals: Signals = ((signal.SIGTERM, 10.0),),
        orphan_signal: signal.Signals = signal.SIGTERM,
    ) -> None:
        self.name = name
        self.command = [str(part) for part in command]
        self.log = log
        self.environment = dict(environment)
        self.directory = directory
        self.account = account or Account.current()
        self.stop_signals = stop_signals
        self.orphan_signal = orphan_signal
        self.started_at = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the program. Raises ServerError when it can't be executed."""
        self.shorten_log()
        self.started_at = time.monotonic()
        with open(os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as log:
            os.fchmod(log.fileno(), 0o600)
            try:
                self._process = subprocess.Popen(
                    self.command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd=self.directory,
                    env=self.environment,
                    start_new_session=True,
                    # Safe, as no other thread runs here that could hold a lock.
                    preexec_fn=_tied_to_this_process(self.orphan_signal),  # noqa: PLW1509
                    **self.account.process_options,
                )
            except OSError as error:
                msg = f"{self.name} can't be started: {error}"
                raise ServerError(msg) from error

    def shorten_log(self) -> None:
        """Keep what is over ``_LOG_BYTES`` as ``….1``, in place of what was kept before, and go on with nothing.

        The program holds the file open, for appending, and goes on in it. What it writes while it is copied is lost.
        """
        if self.log.exists() and self.log.stat().st_size > _LOG_BYTES:
            shutil.copy2(self.log, self.log.with_name(self.log.name + ".1"))
            os.truncate(self.log, 0)

    @property
    def pid(self) -> int | None:
        """The process id while the program runs, else None."""
        return self._process.pid if self._process and self.running() else None

    def running(self) -> bool:
        """Whether the program runs.

        If it has ended, the rest of its session is killed before its exit status is collected: only until then the
        session id can't have been reused.
        """
        process = self._process
        if process is None or process.returncode is not None:
            return False
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return True
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False

    @property
    def ending(self) -> str:
        """How the program ended, in words."""
        status = self._process.returncode if self._process else 0
        return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"

    def ask_to_stop(self) -> None:
        """Send the first stop signal without waiting, so that several can stop in parallel."""
        if self._process and self.running():
            self._process.send_signal(self.stop_signals[0][0])

    def stop(self) -> None:
        """Stop the program; when a signal's wait is over, send the next one."""
        for signum, seconds in (*self.stop_signals, _LAST_RESORT):
            if self._process is None or not self.running():
                return
            self._process.send_signal(signum)
            wait_until(lambda: not self.running(), seconds)


class Server(Child):
    """A child that can be used only once it answers."""

    start_seconds = 60.0

    def answers(self) -> bool:
        """Whether the server answers now."""
        raise NotImplementedError

    def wait_ready(self) -> None:
        """Wait until the server answers. Raises ServerError with the end of its log when it doesn't."""
        if wait_until(lambda: self.answers() or not self.running(), self.start_seconds) and self.running():
            return
        how = f"no answer after {self.start_seconds:.0f} s" if self.running() else self.ending
        msg = f"{self.name} did not start ({how}). The end of {self.log}:\n{tail(self.log)}"
        raise ServerError(msg)


def tail(path: Path, lines: int = 12) -> str:
    """Return the last lines of a text file, indented for the console."""
    if not path.exists():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 300 * lines))
        text = file.read().decode("utf-8", errors="replace")
    return "\n".join(f"    {line}" for line in text.splitlines()[-lines:])


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Poll ``condition`` every 0.05 s until it holds; return whether it did in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def serves(process: psutil.Process, program: str, argument: str, account: Account) -> bool:
    """Whether the process is ``program``, run by the servers' account with exactly this argument."""
    return process.name() == program and process.uids().real == account.uid and argument in process.cmdline()


def stop_leftovers(is_ours: Callable[[psutil.Process], bool], signals: Signals = ()) -> int:
    """Stop processes left by an earlier start of this copy; return how many there were.

    ``is_ours`` identifies them; unreadable processes are left alone. The caller holds this copy's lock, so no living
    supervisor owns them. psutil checks before each signal that the process id was not reused.
    """
    found = [process for process in psutil.process_iter() if _holds(is_ours, process)]
    for signum, seconds in (*signals, _LAST_RESORT) if found else ():
        for process in found:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signum)
        if wait_until(lambda: not any(_holds(_lives, process) for process in found), seconds):
            break
    return len(found)


def _lives(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def _holds(question: Callable[[psutil.Process], bool], process: psutil.Process) -> bool:
    try:
        return question(process)
    except psutil.Error:
        return False


def _tied_to_this_process(signum: signal.Signals) -> Callable[[], None]:
    """Return a ``preexec_fn`` that requests ``signum`` at the parent's death, and exits if the parent has died.

    It runs after the change of user, which would reset the request.
    """
    parent = os.getpid()

    def tie() -> None:
        _C_LIBRARY.prctl(_PR_SET_PDEATHSIG, int(signum), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return tie
