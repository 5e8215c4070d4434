"""Real clients in environments of their own against a server: ``make test-clients``."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.serving import running

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = Path(os.environ.get("KEEPSAKE_CLIENTS", "/nonexistent"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not ENVIRONMENTS.exists(), reason="needs KEEPSAKE_CLIENTS, which make test-clients fills"),
]


def run(environment, url, key, *arguments):
    """What a Python of an environment prints, given where Keepsake is and a key."""
    told = {name: value for name, value in os.environ.items() if not name.startswith(("DATABASE", "REDIS", "PYTHON"))}
    told |= {"KEEPSAKE_URL": url, "KEEPSAKE_KEY": key, "PYTHONDONTWRITEBYTECODE": "1", "MEM0_TELEMETRY": "False"}
    done = subprocess.run(
        [ENVIRONMENTS / environment / "bin/python", *arguments],
        env=told, cwd=ROOT / "clients/python", capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-3_000:]
    return done.stdout


@pytest.mark.parametrize("file", ["client", "saver"])
def test_the_python_client(agent, file):
    with running() as url:
        run("langgraph", url, agent.credential, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/test_{file}.py")


@pytest.mark.parametrize("page", ["python", "langgraph"])
def test_a_quickstart_runs_as_it_stands(agent, page):
    text = (ROOT / f"docs/clients/{page}.md").read_text()
    script = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    with running() as url:
        printed = run("langgraph", url, agent.credential, "-c", script)
    for told in re.findall(r"```text\n(.*?)```", text, re.DOTALL):
        assert told in printed
