"""Throw-away PostgreSQL and Valkey for one test run, started before Django reads its settings.

Loaded by ``-p tests.servers`` in pyproject.toml: pytest-django loads the settings before any conftest.py. The servers
belong to a process of their own, which stops them and removes their data when this one ends, however it ends.
DATABASE_URL or REDIS_URL in the environment replaces that server.
"""

import gc
import json
import os
import re
import subprocess
import sys

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config):
    # Imports, queries, pages and parses make objects by the ten thousand, which stay or go by themselves: the garbage
    # collector looks for circles seldom. At its own threshold of 700 it takes a tenth of the time.
    gc.set_threshold(50_000, 20, 20)
    os.environ["KEEPSAKE_MODEL"] = "offline"  # A key on this machine is for the expensive tests alone.
    os.environ["KEEPSAKE_EMBEDDER"] = "hashing"  # Tests of the bundled one make it themselves.
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker:
        os.environ["REDIS_URL"] = own_database(os.environ["REDIS_URL"], int(worker.removeprefix("gw")) + 1)
    else:
        start_servers(early_config)
    return (yield)


def start_servers(config):
    """Start the servers that the environment doesn't name, and name them there for this process and its workers."""
    # A session of its own keeps Ctrl-C for the tests: their teardown still needs the servers.
    keeper = subprocess.Popen(
        [sys.executable, "-m", "memory_project.embedded"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        cwd=config.rootpath,
        text=True,
    )

    def stop():
        keeper.stdin.close()
        keeper.stdout.close()
        keeper.wait(timeout=60)

    config.add_cleanup(stop)
    line = keeper.stdout.readline()
    if not line:
        raise pytest.UsageError("The test servers did not start; the reason is above.")
    os.environ.update(json.loads(line))


def own_database(url, number):
    """Give one parallel worker a database of its own in the same server, in either spelling of the address."""
    if url.startswith("unix:"):
        return re.sub(r"(\?db=\d+)?$", f"?db={number}", url, count=1)
    return re.sub(r"^(rediss?://[^/]+)(/\d*)?", rf"\g<1>/{number}", url)
