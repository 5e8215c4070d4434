"""Throw-away servers: ``python -m memory_project.embedded [COMMAND ...]``.

With a command, run it with the addresses of new servers in its environment, and end with its status.

Without one, write one line of JSON that names those environment variables, and serve until standard input closes.
Whoever reads it keeps the pipe open; when that process ends, however it ends, the servers stop and their data goes.
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
    """Serve for as long as the command runs, or until standard input closes; return the exit status."""
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
