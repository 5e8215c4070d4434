"""The protocol's own conformance suite and inspector, both run by Node, against the server: ``make test-clients``."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests import factories
from tests.serving import running

NODE = Path(os.environ.get("KEEPSAKE_NODE_CLIENTS", "/nonexistent"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not NODE.exists(), reason="needs KEEPSAKE_NODE_CLIENTS, where make test-clients installs them"),
]
SCENARIOS = [
    *("server-initialize", "ping", "tools-list", "resources-list", "resources-subscribe", "resources-unsubscribe"),
    *("prompts-list", "server-sse-multiple-streams", "dns-rebinding-protection"),
]


def node(package, *arguments):
    """The exit code and the output of a package's program."""
    own = NODE / "node_modules/node/bin"
    programs = json.loads((NODE / "node_modules" / package / "package.json").read_text())["bin"]
    path = next(iter(programs.values())) if isinstance(programs, dict) else programs
    done = subprocess.run(
        [own / "node", NODE / "node_modules" / package / path, *arguments],
        env={**os.environ, "PATH": f"{own}:{os.environ['PATH']}", "HOME": str(NODE)},
        cwd=NODE,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def suite():
    return "@modelcontextprotocol/conformance"


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_of_the_conformance_suite_passes(agent, suite, scenario):
    with running(agent.credential) as url:
        code, told = node(suite, "server", "--url", f"{url}/mcp", "--scenario", scenario)
    assert code == 0, told


def test_the_inspector_lists_and_calls(agent, owner):
    factories.MemoryFactory(user=owner, content="The user keeps 41 hens.")
    told = {}
    with running() as url:
        for method, *more in (
            ["tools/list", "--strict"],
            ["resources/list"],
            ["resources/templates/list"],
            ["prompts/list"],
            ["resources/read", "--uri", "memory://block"],
            ["tools/call", "--tool-name", "memory_query", "--tool-arg", "query=hens"],
        ):
            code, told[method] = node(
                "@modelcontextprotocol/inspector",
                *("--cli", f"{url}/mcp", "--transport", "http", "--method", method),
                *("--header", f"Authorization: Bearer {agent.credential}"),
                *more,
            )
            assert code == 0, told[method]
    assert len(re.findall(r'"name": "\w+_memory"', told["tools/list"])) == 4
    assert "41 hens" in told["resources/read"]
    assert "41 hens" in told["tools/call"]
