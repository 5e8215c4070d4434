"""The driver's end of the peers' process: a line of JSON there, a line back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .system import Timed

_ROOT = Path(__file__).resolve().parents[2]


class PeersFailed(Exception):
    """The peers' process ended, or could not do what it was told."""


class Channel:
    """A running process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Have something done and return the answer. Raises PeersFailed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise PeersFailed("The peers' process has ended; its log says why.") from error
        line = self._process.stdout.readline()
        if not line:
            raise PeersFailed("The peers' process has ended; its log says why.")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeersFailed(f"{do} {arguments.get('system', '')}: {answer['error']}\n{answer['trace']}")
        return answer


class Remote:
    """A system of the other process. Its clock is the one that counts: what a line of JSON takes is not measured."""

    def __init__(self, channel: Channel, name: str, lacks: Mapping[str, str]) -> None:
        self.name = name
        self.lacks = lacks
        self._channel = channel

    def note(self, work: str, *arguments: Any) -> None:
        """Nothing needs a call of its own."""

    def call(self, work: str, *arguments: Any) -> Timed:
        """Do one piece of work there."""
        answer = self._channel.ask("call", system=self.name, work=work, arguments=arguments)
        return Timed(answer["seconds"], answer["answer"])

    def contents(self, person: str, ids: Sequence[str]) -> Sequence[str]:
        """What memories say."""
        found: list[str] = self._channel.ask("contents", system=self.name, person=person, ids=ids)["contents"]
        return found


@contextmanager
def peers_process(python: Path, database_url: str, directory: Path, memories: int) -> Iterator[Channel]:
    """The peers' process, until the block ends; what it writes beside answers goes to ``directory/peers.log``."""
    # An environment of its own: nothing of Keepsake's settings, no keys, no proxies.
    environment = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"}
    # It holds a password, and whoever lists processes sees their arguments.
    environment["DATABASE_URL"] = database_url
    # Not resolved: a virtual environment is known by the place of its link.
    command = [str(python.absolute()), "-m", "benchmarks.peers.runner", str(directory), str(memories)]
    log = directory / "peers.log"
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            command,
            cwd=_ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            yield Channel(process)
        except PeersFailed:
            sys.stderr.write(log.read_text(encoding="utf-8", errors="replace")[-4_000:])
            raise
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
