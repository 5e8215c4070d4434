"""Temporary servers: ``python -m memory_project.embedded [COMMAND ...]``.

With a command, run it with the addresses of new servers in its environment, and exit with its status.

Without one, print these environment variables as one line of JSON, and serve until standard input closes. The reader
keeps the pipe open; when it ends, even if killed, the servers stop and their data is deleted.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

from .account import ServerError
from .servers import throw_away_servers


def main(command: list[str]) -> int:
    """Serve until the command ends, or without one until standard input closes; return the exit status."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        with throw_away_servers(os.environ) as environment:
            if command:
                return subprocess.run(command, env={**os.environ, **environment}, check=False).returncode
            sys.stdout.write(json.dumps(environment) + "\n")
            sys.stdout.flush()
            sys.stdin.read()
    except ServerError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
