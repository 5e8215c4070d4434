"""The log of operations (003, 14): one row an hour for what was only shown, one for each write, without any content."""

from datetime import timedelta

import pytest
import time_machine
from django.db.models import Sum
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from journal import tasks
from journal.leases import open_job
from journal.models import OperationEvent
from memories.actions import memories_consolidate
from memories.consolidation import JOB
from memories.models import ComparedPair
from memories.tasks import expire_memories, note_shown
from tests import factories
from tests.memories.rows import remember

pytestmark = pytest.mark.django_db(transaction=True)

URL = "/api/v1/memories/"


@pytest.fixture(autouse=True)
def _drained():
    tasks.note_operations()
    note_shown()
    OperationEvent.objects.all().delete()


def test_block_reads_are_counted_per_conversation_and_hour(api, agent, owner):
    talk = factories.ConversationFactory(user=owner, agent=agent)
    with time_machine.travel("2026-11-20T10:05:00Z") as clock:
        for minute in (5, 20, 50):
            clock.move_to(f"2026-11-20T10:{minute:02}:00Z")
            api(agent).get(f"{URL}context/", {"conversation": str(talk.pk)})
        clock.move_to("2026-11-20T11:01:00Z")
        api(agent).get(f"{URL}context/", {"conversation": str(talk.pk)})
        note_shown()
    rows = OperationEvent.objects.filter(node="context", op="block").order_by("at")
    assert list(rows.values_list("count", flat=True)) == [3, 1]
    assert {row.thread_id for row in rows} == {str(talk.pk)}


def test_rest_writes_are_logged_with_sim_and_without_content(api, agent, owner, settings):
    settings.KEEPSAKE_EMBEDDER = "hashing"
    settings.MEMORY_LINK_MIN_SIMILARITY = 0.3
    for content in ("The user keeps bees at home.", "The user keeps hens at home."):
        made = api(agent).post(URL, {"content": content, "category": "context", "insist": True}).json()
    api(agent).put(f"{URL}{made['id']}/", {"content": "The user keeps ducks at home."})
    api(agent).delete(f"{URL}{made['id']}/")
    assert not OperationEvent.objects.filter(node="hotpath").exists()  # Not on the request's path.
    tasks.note_operations()
    first, second, update, delete = OperationEvent.objects.filter(node="hotpath").order_by("at")
    assert [row.op for row in (first, second, update, delete)] == ["create", "create", "update", "delete"]
    assert (first.sim, second.category, second.object_id) == (None, "context", made["id"])
    assert second.sim > 0.3
    tasks.note_operations()
    assert OperationEvent.objects.filter(node="hotpath").count() == 4


def test_what_was_refused_is_logged_as_skipped_by_its_code(api, agent, owner):
    good, bad = ({"content": f"{who} keeps bees.", "category": "context"} for who in ("The user", "He"))
    assert api(agent).post(URL, bad).status_code == 422
    assert [each["status"] for each in api(agent).post(f"{URL}bulk/", {"items": [bad, good]}).json()["results"]] == [
        422,
        201,
    ]
    assert api(agent).post("/api/v1/tools/add_to_memory/", {"arguments": bad}).json()["ok"] is False
    assert api(agent).get(URL, {"category": "procedural"}).status_code == 403  # A read.
    tasks.note_operations()
    rows = OperationEvent.objects.filter(user_id=owner.pk).order_by("at").values_list("node", "op", "status")
    assert sorted(rows) == [("hotpath", "create", "ok"), *[("hotpath", "gate", "skipped")] * 3]


def test_what_jobs_put_away_by_themselves_is_logged_too(owner):
    (memory,) = remember(owner, "The user keeps bees.", expires_at=timezone.now() + timedelta(hours=1))
    with time_machine.travel(timezone.now() + timedelta(hours=2)):
        expire_memories()
    tasks.note_operations()
    row = OperationEvent.objects.get(op="ttl")
    assert (row.node, row.op, row.status, row.object_id) == ("worker", "ttl", "ok", memory.pk)


def test_a_merge_counts_once_whatever_it_puts_away(owner, settings):
    settings.CONSOLIDATE_MOST_ARCHIVED = 1
    said = ["The user keeps bees.", "The user keeps bees!"]
    memories = remember(owner, *({"content": each, "importance": 3} for each in said))
    kept, dropped = memories
    versions = {"kept_version": 1, "dropped_version": 1, "score": 99}
    ComparedPair.objects.create(user=owner, kept=kept, dropped=dropped, verdict="same", asked=False, **versions)
    memories_consolidate(open_job(JOB, owner.pk, user_id=owner.pk).pk)
    tasks.note_operations()
    assert [row.node for row in OperationEvent.objects.filter(op="merge")] == ["worker"]


def test_basic_counts_by_op_and_node_over_time(api, agent, owner):
    for content in ("The user keeps bees.", "The user keeps bees."):
        api(agent).post(URL, {"content": content, "category": "context"})
    tasks.note_operations()
    counts = OperationEvent.objects.filter(user_id=owner.pk, node="hotpath").values("op").annotate(n=Sum("count"))
    assert {row["op"]: row["n"] for row in counts} == {"create": 1, "merge": 1}


def test_what_changed_and_when_is_answered_without_logs(api, agent, owner):
    made = api(agent).post(URL, {"content": "The user keeps bees.", "category": "context"}).json()
    changes = api(owner).get("/api/v1/changes/").json()["results"]
    told = next(each for each in changes if each["event"] == "ADD")
    assert (told["object"], parse_datetime(told["at"]) <= timezone.now()) == (made["id"], True)
    assert "bees" not in str(changes)


def test_writes_by_tools_are_logged_with_sim_and_without_content(api, agent, settings):
    settings.KEEPSAKE_EMBEDDER = "hashing"
    settings.MEMORY_LINK_MIN_SIMILARITY = 0.3

    def call(name, **arguments):
        answer = api(agent).post(f"/api/v1/tools/{name}/", {"arguments": arguments}).json()
        assert answer["ok"], answer
        return answer["data"]["memory"]["id"]

    call("add_to_memory", content="The user keeps bees at home.", category="context")
    made = call("add_to_memory", content="The user keeps hens at home.", category="context", insist=True)
    call("update_memory", memory_id=made, content="The user keeps ducks at home.")
    assert not OperationEvent.objects.filter(node="hotpath").exists()
    tasks.note_operations()
    first, second, update = OperationEvent.objects.filter(node="hotpath").order_by("at")
    assert [row.op for row in (first, second, update)] == ["create", "create", "update"]
    assert (first.sim, second.category, second.object_id, update.object_id) == (None, "context", made, made)
    assert second.sim > 0.3
    assert "home" not in str(list(OperationEvent.objects.values()))
