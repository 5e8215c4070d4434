"""Issue 17, 7: states of agents' work through a running server: how long they take, and that they survive it."""

import statistics

import pytest

from memory_project.embedded.processes import wait_until
from tests.assistant.deployment import own_deployment
from tests.timing import allowed

pytestmark = pytest.mark.slow
URL = "/api/v1/checkpoints/supervisor/"
ALLOWED_SECONDS = 0.1
"""What the source document allows; on an idle machine it is less than a fifth (docs/checkpoints.md)."""


def p95(answers):
    assert {answer.status for answer in answers} <= {200, 201}
    return statistics.quantiles((answer.seconds for answer in answers), n=20)[-1]


def test_checkpoints_of_100_kb_are_quick_and_survive_restarts(record_property):
    with own_deployment() as deployment:
        client = deployment.client()
        state = {"notes": ["x" * 1_000] * 100}
        saves = [client.put(URL, {"state": state, "version": number}) for number in range(200)]
        loads = [client.get(URL) for _ in range(200)]
        took = {"save": p95(saves), "load": p95(loads)}
        record_property("p95", took)
        for part in (deployment.web, deployment.postgres, deployment.valkey):
            part.stop()
        deployment.postgres.start()
        deployment.valkey.start()
        deployment.postgres.wait_ready()
        deployment.web.start()
        assert wait_until(deployment.is_ready, 60)
        again = deployment.client()
        assert again.get(URL).json()["state"] == state
        assert again.put(URL, {"state": state, "version": 199}).json()["current"] == 200
        assert max(took.values()) <= allowed(ALLOWED_SECONDS), took
