"""Real clients in environments of their own against a server: ``make test-clients``."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from accounts.queries import principal_for_person
from language.backends import embedder_replaced
from language.embedders.e5.embedder import BundledEmbedder
from memories import actions
from memories.models import Memory, Proposal
from tests import factories
from tests.serving import running

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = Path(os.environ.get("KEEPSAKE_CLIENTS", "/nonexistent"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not ENVIRONMENTS.exists(), reason="needs KEEPSAKE_CLIENTS, which make test-clients fills"),
]


@pytest.fixture(autouse=True)
def _as_it_is_deployed():
    """With the bundled embedder, by which the gates judge what clients send; most tests have the hashing one."""
    with embedder_replaced(BundledEmbedder()):
        yield


def run(environment, url, key, *arguments, **more):
    """What a Python of an environment prints, given where Keepsake is and a key, and ``more`` of its environment."""
    told = {name: value for name, value in os.environ.items() if not name.startswith(("DATABASE", "REDIS", "PYTHON"))}
    told |= {"KEEPSAKE_URL": url, "KEEPSAKE_KEY": key, "PYTHONDONTWRITEBYTECODE": "1", "MEM0_TELEMETRY": "False"}
    done = subprocess.run(
        [ENVIRONMENTS / environment / "bin/python", *arguments],
        env=told | more, cwd=ROOT / "clients/python", capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-3_000:]
    return done.stdout


@pytest.mark.parametrize(
    ("file", "environment"),
    [
        *((each, "langgraph") for each in ("client", "saver", "store", "anthropic", "langchain")),
        ("openai_agents", "openai-agents"),
    ],
)
def test_the_python_client(agent, file, environment):
    calls = ("-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/test_{file}.py")
    with running() as url:
        run(environment, url, agent.credential, *calls)


@pytest.mark.parametrize("generation", ["agno", "agno-2"])
def test_agno(agent, owner, service, generation):
    calls = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_agno.py")
    with running() as url:
        run(generation, url, agent.credential, *calls, KEEPSAKE_USER_ID=owner.username)
        run(generation, url, service.credential, *calls, KEEPSAKE_USER_ID="anna", KEEPSAKE_OTHER="42")


@pytest.mark.parametrize("generation", ["mem0", "mem0-1"])
def test_the_client_of_mem0(agent, owner, service, generation):
    calls = ("-m", "pytest", "-p", "no:cacheprovider", "../others/test_mem0.py")
    with running() as url:
        run(generation, url, agent.credential, *calls, KEEPSAKE_USER_ID=owner.username)
        run(generation, url, service.credential, *calls, KEEPSAKE_USER_ID="anna", KEEPSAKE_OTHER="42")


def node(environment, url, key, *arguments, **more):
    """What Node prints in the folder of an environment."""
    folder = ENVIRONMENTS / environment
    told = {"PATH": os.environ["PATH"], "HOME": str(folder), "KEEPSAKE_URL": url, "KEEPSAKE_KEY": key}
    done = subprocess.run(
        [ENVIRONMENTS / "node/bin/node", *arguments], env={**told, "MEM0_TELEMETRY": "false", **more},
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-3_000:]
    return done.stdout


def test_the_npm_client_of_mem0(agent, owner, service):
    with running() as url:
        node("mem0-npm", url, agent.credential, "--test", KEEPSAKE_USER_ID=owner.username)
        node("mem0-npm", url, service.credential, "--test", KEEPSAKE_USER_ID="anna")


def test_the_npm_client_does_what_its_page_says_and_knows_the_schema(agent):
    text = (ROOT / "docs/clients/typescript.md").read_text()
    folder, (script,) = ENVIRONMENTS / "typescript", re.findall(r"```ts\n(.*?)```", text, re.DOTALL)
    compiles = ("node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--module", "nodenext", "--target", "es2022")
    (folder / "page.ts").write_text(script)
    (folder / "wrong.ts").write_text(script.replace('category: "interests"', 'drawer: "interests"'))
    with running() as url:
        node("typescript", url, agent.credential, *compiles, "page.ts")
        printed = node("typescript", url, agent.credential, "page.ts")
        with pytest.raises(AssertionError, match="'drawer' does not exist"):
            node("typescript", url, agent.credential, *compiles, "wrong.ts")
    assert re.findall(r"```text\n(.*?)```", text, re.DOTALL) == [printed]


REPEATING = """
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { keepsake } from "keepsake";

const seen = [];
const server = createServer((asked, answer) => {
  asked.on("data", () => {});
  asked.on("end", () => {
    seen.push([asked.method, asked.headers["idempotency-key"]]);
    if (seen.length === 1) return asked.socket.destroy();
    answer.writeHead(seen.length === 2 ? 503 : 200, { "Content-Type": "application/json", "Retry-After": "0" });
    answer.end('{"outcome": "created"}');
  });
}).listen(0, "127.0.0.1", async () => {
  const memory = keepsake({ url: `http://127.0.0.1:${server.address().port}`, key: "ks_a.b" });
  const body = { content: "The user keeps hens.", category: "interests" };
  const { data } = await memory.POST("/api/v1/memories/", { body });
  assert.equal(data.outcome, "created");
  assert.equal(seen.length, 3);
  assert.equal(new Set(seen.map(([, key]) => key)).size, 1);
  assert.ok(seen[0][1]);
  seen.length = 0;
  await assert.rejects(memory.DELETE("/api/v1/memories/{memory_id}/", { params: { path: { memory_id: "a" } } }));
  assert.equal(seen.length, 1);
  server.close();
});
"""


def test_the_npm_client_repeats_what_happens_once_and_nothing_else(agent):
    (ENVIRONMENTS / "typescript/repeating.mjs").write_text(REPEATING)
    node("typescript", "http://127.0.0.1:9", agent.credential, "repeating.mjs")


QUICKSTARTS = {
    "python": "langgraph",
    "langgraph": "langgraph",
    "anthropic": "langgraph",
    "langchain": "langgraph",
    "mem0": "mem0",
    "agno": "agno",
    "openai-agents": "openai-agents",
}


@pytest.mark.parametrize("page", QUICKSTARTS)
def test_a_quickstart_runs_as_it_stands(agent, page):
    text = (ROOT / f"docs/clients/{page}.md").read_text()
    script = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    with running() as url:
        printed = run(QUICKSTARTS[page], url, agent.credential, "-c", script)
    for told in re.findall(r"```text\n(.*?)```", text, re.DOTALL):
        assert told in printed


def test_an_item_that_waits_is_answered_as_it_was(agent, owner):
    factories.PreferencesFactory(user=owner, review="before")
    put = "from keepsake.langgraph import KeepsakeStore as Store\nstore = Store()\nstore.put(('w',), 'k', {'n': %d})\n"
    get = "item = store.get(('w',), 'k')\nprint(item and item.value)"
    with running() as url:
        assert run("langgraph", url, agent.credential, "-c", put % 1 + get) == "None\n"
        actions.memory_approve(principal_for_person(owner.pk), Memory.objects.get().pk)
        assert run("langgraph", url, agent.credential, "-c", put % 2 + get) == "{'n': 1}\n"
        actions.proposal_approve(principal_for_person(owner.pk), Proposal.objects.get(state="waiting").pk)
        assert run("langgraph", url, agent.credential, "-c", put % 2 + get) == "{'n': 2}\n"
