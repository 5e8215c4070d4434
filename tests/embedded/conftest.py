import shutil
import socket
import tempfile
from pathlib import Path

import pytest

from memory_project.embedded import EmbeddedServers


@pytest.fixture
def var():
    """A directory like a checkout's ``var``, in a path with spaces that any user may pass; emptied after the test."""
    top = Path(tempfile.mkdtemp(prefix="keepsake-own-tests-"))
    top.chmod(0o711)
    made = top / "a checkout, 'quoted' and spaced" / "var"
    made.mkdir(parents=True)
    yield made
    shutil.rmtree(top)


@pytest.fixture
def servers(var):
    """Embedded servers below ``var``, started; called again they are set up once more from what is there."""
    made = []

    def start(given=None):
        made.append(EmbeddedServers(var, given or {}, throw_away=True))
        made[-1].start()
        return made[-1]

    yield start
    for each in made:
        each.stop()


@pytest.fixture
def port():
    """A port of the loopback on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
