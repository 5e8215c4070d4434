"""Run throw-away servers until standard input closes: ``python -m memory_project.embedded``.

One line of JSON on standard output names the environment variables to reach them, once they answer. Whoever reads
it keeps the pipe open; when that process ends, however it ends, the servers stop and their data goes.
"""

from __future__ import annotations

import json
import os
import signal
import sys

from .errors import ServerError
from .servers import throw_away_servers


def main() -> None:
    """Serve until standard input closes."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        with throw_away_servers(os.environ) as environment:
            sys.stdout.write(json.dumps(environment) + "\n")
            sys.stdout.flush()
            sys.stdin.read()
    except ServerError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
