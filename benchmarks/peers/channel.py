"""The driver's connection to the peers' process: a line of JSON per request and answer."""

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
    """The peers' process ended or a request failed."""


class Channel:
    """A running process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Send a request and return the answer. Raises PeersFailed."""
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
    """A system in the peers' process. That process measures the times, so they don't include the JSON exchange."""

    def __init__(self, channel: Channel, name: str, lacks: Mapping[str, str]) -> None:
        self.name = name
        self.lacks = lacks
        self._channel = channel

    def note(self, work: str, *arguments: Any) -> None:
        """Do nothing."""

    def call(self, work: str, *arguments: Any) -> Timed:
        """Run one call there."""
        answer = self._channel.ask("call", system=self.name, work=work, arguments=arguments)
        return Timed(answer["seconds"], answer["answer"])

    def contents(self, person: str, ids: Sequence[str]) -> Sequence[str]:
        """Return the contents of memories."""
        found: list[str] = self._channel.ask("contents", system=self.name, person=person, ids=ids)["contents"]
        return found


@contextmanager
def peers_process(python: Path, database_url: str, directory: Path, memories: int) -> Iterator[Channel]:
    """Run the peers' process in the block; its other output goes to ``directory/peers.log``."""
    # A minimal environment: no settings of Keepsake, no keys, no proxies.
    environment = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"}
    # Not an argument, since it holds a password and arguments are visible in the process list.
    environment["DATABASE_URL"] = database_url
    # Not resolved: Python finds its virtual environment by the path of the link.
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
