"""Acceptance lines of the source document that the tests beside this one do not have by name.

Those of 1 stand in test_delta.py, of 2, 5 and 6 in test_query.py, of 3 in test_insights.py, of 4, 7 and 12 in
tests/memories (test_consolidation.py, test_lifecycle.py, test_procedures.py), of 13 in test_waiting.py, of 14 in
tests/journal/test_operations.py and tests/memory_project/test_metrics.py, of 15 in
tests/conversations/test_checkpoints_served.py.
"""

import base64
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.queries import principal_for_person
from assistant.erasure.actions import erasure_request, run_erasure
from assistant.learn import summarizing
from assistant.recall.query import Question, answer_question
from conversations.models import Checkpoint, CheckpointWrite
from memories.models import Memory
from retrieval.filters import Filters
from retrieval.search import CANDIDATES
from tests import factories
from tests.conftest import with_key
from tests.memories.rows import remember

from .querying import ask, embedded, ids
from .rich import exported, rows_in

pytestmark = pytest.mark.django_db

JUNE = datetime(2025, 6, 1, tzinfo=UTC)


# --- 6: a bounded cost, for the latency -------------------------------------------------------------------------


@pytest.mark.parametrize("size", [10, 1_000])
def test_latency_of_bullets_rests_on_a_bounded_number_of_statements(owner, size):
    """However much is remembered: counts, search, rows, relations.

    That bullets take less than 150 ms depends on the machine: ``python -m benchmarks.query`` prints what they take.
    """
    embedded(owner, *(f"Boat number {number} is painted blue." for number in range(size)))
    principal = principal_for_person(owner.pk)
    with CaptureQueriesContext(connection) as statements:
        assert len(answer_question(principal, Question("Which boat?", top_k=3)).results) == 3
    assert len(statements) <= 4


# --- 6.1: filters are applied on the server ---------------------------------------------------------------------

SAID = "Rows a boat on the lake."


@pytest.fixture
def people(owner, agent):
    """The memory that each filter is to find, and one beside it that differs in every column."""
    other = factories.AgentFactory(name="another", owner=owner)
    wanted, beside = remember(
        owner,
        {
            "content": SAID,
            "category": "event",
            "agent": agent,
            "run_id": "run-1",
            "actor_id": "ada",
            "role": "assistant",
            "pinned": True,
            "importance": 3,
            "updated_at": JUNE,
        },
        {
            "content": "Rows a boat on the sea.",
            "category": "tasks",
            "agent": other,
            "run_id": "run-2",
            "actor_id": "ben",
            "role": "user",
            "pinned": False,
            "importance": 3,
            "updated_at": JUNE,
        },
    )
    return wanted, beside


@pytest.mark.parametrize(
    "filters",
    [
        {"agent_id": "{agent}"},
        {"run_id": "run-1"},
        {"actor_id": "ada"},
        {"role": "assistant"},
        {"category": "event"},
        {"pinned": True},
    ],
    ids=lambda filters: next(iter(filters)),
)
def test_filters_applied_server_side(api, owner, agent, people, filters):
    """One at a time, over HTTP; ``user_id`` and the spans have tests of their own."""
    wanted, beside = people
    asked = {name: value.format(agent=agent.pk) if name == "agent_id" else value for name, value in filters.items()}
    assert set(ids(ask(api(owner), "boat"))) == {wanted.pk, beside.pk}
    assert ids(ask(api(owner), "boat", filters=asked)) == [wanted.pk]


def test_filters_applied_server_side_user_id(api, owner, stranger, people):
    """One's own id changes nothing, anybody else's is not found."""
    own, other = ({"user_id": str(person.pk)} for person in (owner, stranger))
    assert len(ids(ask(api(owner), "boat", filters=own))) == 2
    refused = api(owner).post("/api/v1/memories/query/", {"query": "boat", "filters": other})
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"importance_min": 3}, {3, 4, 5}),
        ({"importance_max": 2}, {1, 2}),
        ({"importance_min": 2, "importance_max": 4}, {2, 3, 4}),
        ({"importance_min": 4, "importance_max": 3}, set()),
    ],
)
def test_filters_applied_server_side_importance_min_and_max(api, owner, filters, found):
    memories = remember(owner, *({"content": f"{SAID} {value}", "importance": value} for value in range(1, 6)))
    answer = ids(ask(api(owner), "boat", filters=filters))
    assert {memory.importance for memory in memories if memory.pk in answer} == found


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"updated_after": "2025-06-03"}, {2, 3, 4}),
        ({"updated_before": "2025-06-03"}, {0, 1}),
        ({"updated_after": "2025-06-02", "updated_before": "2025-06-04"}, {1, 2}),
        ({"updated_after": "2025-06-02T00:00:01Z"}, {2, 3, 4}),
        ({"updated_after": None, "updated_before": None}, {0, 1, 2, 3, 4}),
    ],
)
def test_filters_applied_server_side_updated_after_and_before(api, owner, filters, found):
    """The first moment belongs to the span, the last one does not."""
    days = [JUNE + timedelta(days=day) for day in range(5)]
    memories = remember(owner, *({"content": f"{SAID} {day}", "updated_at": at} for day, at in enumerate(days)))
    answer = ids(ask(api(owner), "boat", filters=filters))
    assert {day for day, memory in enumerate(memories) if memory.pk in answer} == found


def test_filters_applied_server_side_before_anything_is_cut(owner):
    """What is wanted is found behind more that is nearer than any search looks at: nothing was filtered afterwards."""
    near = ({"content": SAID, "run_id": f"run-{number}"} for number in range(CANDIDATES + 50))
    *_, wanted = remember(owner, *near, {"content": "Keeps a boat.", "run_id": "wanted"})
    principal = principal_for_person(owner.pk)
    answer = answer_question(principal, Question(SAID, top_k=1, filters=Filters(run_id="wanted")))
    assert [each.id for each in answer.results] == [wanted.pk]


def test_filters_do_not_open_what_the_allowlist_closes(api, owner):
    """A filter can only narrow: the server asks for the role's categories, whatever else is asked."""
    remember(owner, {"content": SAID, "category": "tone", "run_id": "run-1"})
    planner = with_key(factories.AgentFactory(name="planner", owner=owner, role="planner"))
    assert ids(ask(api(planner), "boat", filters={"run_id": "run-1"})) == []
    assert len(ids(ask(api(owner), "boat", filters={"run_id": "run-1"}))) == 1


# --- 3: theory of mind ------------------------------------------------------------------------------------------


def test_never_blocks_hot_path(api, owner, agent, monkeypatch):
    """Saying, preparing a turn, remembering and recalling ask no model for an insight."""

    def asked(*_):
        raise AssertionError("a request waited for an insight")

    monkeypatch.setattr("language.offline.model.OfflineModel.insights", asked)
    client = api(agent)
    talk = client.post("/api/v1/conversations/", {}).json()["id"]
    said = {"role": "user", "content": "I'm worried about the move. I'm anxious about it."}
    assert client.post(f"/api/v1/conversations/{talk}/messages/", said).status_code == 201
    assert client.post(f"/api/v1/conversations/{talk}/turn/", {"content": "What now?"}).status_code == 200
    noted = {"content": "The user is worried about the move.", "category": "context"}
    assert client.post("/api/v1/memories/", noted).status_code == 201
    assert ids(ask(client, "worried"))
    assert client.post(f"/api/v1/conversations/{talk}/finish/", {}).status_code in {200, 202}
    summarizing.maybe_summarize(talk)


# --- 8: audit and history ---------------------------------------------------------------------------------------


def test_events_recorded_for_all_write_operations_exportable_per_user(api, owner):
    client, url = api(owner), "/api/v1/memories/"
    memory = client.post(url, {"content": "I row a boat.", "category": "context"}).json()["id"]
    client.put(f"{url}{memory}/", {"content": "I row two boats."})
    client.patch(f"{url}{memory}/", {"importance": 4})
    client.post(f"{url}{memory}/pin/", {})
    client.delete(f"{url}{memory}/")
    client.post(f"{url}{memory}/restore/", {})
    client.post(f"{url}{memory}/reject/", {})
    events = [each["event"] for each in client.get(f"{url}{memory}/history/").json()["results"]]
    assert events[::-1] == ["ADD", "UPDATE", "UPDATE", "PIN", "DELETE", "RESTORE", "REJECT"]
    changes = rows_in(exported(owner))["changes"]
    assert [each["event"] for each in changes if each["object_id"] == memory] == events[::-1]


# --- 10: consent ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "content"),
    [
        ("preferred_name", "The user wants to be called Ana."),
        ("pronouns", "The user's pronouns are they/them."),
        ("city", "The user lives in Porto."),
        ("language", "The user's language is Portuguese."),
    ],
)
def test_no_sensitive_field_changes_without_consent_and_the_audit_trail_contains_the_decision(
    api, owner, agent, field, content
):
    """An agent's word waits seven days for the person's; approving it is in the history."""
    body = {"content": content, "category": "profile", "field": field}
    answer = api(agent).post("/api/v1/memories/", body)
    assert (answer.status_code, answer.json()["outcome"]) == (202, "proposed")
    memory = Memory.objects.get(pk=answer.json()["id"])
    waits = memory.proposals.get()
    assert (memory.state, waits.expires_at - waits.created_at) == ("proposed", timedelta(days=7))
    assert api(owner).post(f"/api/v1/memories/{memory.pk}/approve/", {}).status_code == 200
    history = api(owner).get(f"/api/v1/memories/{memory.pk}/history/").json()["results"]
    assert [(each["event"], each["actor"].partition(":")[0]) for each in history][::-1] == [
        ("PROPOSE", "agent"),
        ("APPROVE", "person"),
    ]


def test_a_no_is_in_the_audit_trail_and_the_sensitive_field_stays_as_it_was(api, owner, agent):
    client, url = api(owner), "/api/v1/memories/"
    mine = client.post(url, {"content": "I live in Lisbon.", "category": "profile"}).json()["id"]
    body = {"content": "The user lives in Porto.", "category": "profile", "field": "city"}
    asked = api(agent).post(url, body).json()
    assert asked["outcome"] == "proposed"
    assert client.post(f"{url}{asked['id']}/reject/", {}).status_code == 200
    history = client.get(f"{url}{asked['id']}/history/").json()["results"]
    assert [(each["event"], each["actor"].partition(":")[0]) for each in history][::-1] == [
        ("PROPOSE", "agent"),
        ("REJECT", "person"),
    ]
    assert Memory.objects.get(user=owner, state="active", field="city").pk == mine


# --- 15: checkpoints --------------------------------------------------------------------------------------------


def test_a_persons_export_and_erasure_include_their_checkpoints_of_both_kinds(api, owner, agent, stranger):
    """What every agent saved for them, with what a graph wrote and has pending; nothing of anybody else."""
    other = with_key(factories.AgentFactory(name="another", owner=owner))
    theirs = with_key(factories.AgentFactory(owner=stranger))
    for client, mark in ((api(agent), "first"), (api(other), "second"), (api(theirs), "foreign")):
        _save_states(client, mark)
    rows = rows_in(exported(owner))
    assert {row["data"]["json"]["notes"] for row in rows["checkpoints"] if row["thread"] == "plain"} == {
        "plain first",
        "plain second",
    }
    for kind, thread in (("checkpoints", "graph"), ("checkpoint_writes", "graph")):
        kept = {base64.b64decode(row["data"]).decode() for row in rows[kind] if row["thread"] == thread}
        assert kept == {f"{kind} first", f"{kind} second"}
    assert "foreign" not in str(rows)

    erasure, job = erasure_request(principal_for_person(owner.pk), "everything", "")
    run_erasure(job.pk)
    erasure.refresh_from_db()
    assert erasure.state == "done"
    for model in (Checkpoint, CheckpointWrite):
        assert set(model.objects.values_list("user_id", flat=True)) == {stranger.pk}


def _save_states(client, mark):
    """Save a state of either kind, and a pending write of the graph, each of which holds the mark."""
    texts = {kind: f"{kind} {mark}" for kind in ("checkpoints", "checkpoint_writes")}
    blobs = {kind: {"type": "json", "base64": base64.b64encode(text.encode()).decode()} for kind, text in texts.items()}
    graph = {"thread": "graph", "checkpoint_id": "1"}
    writes = [{"index": 0, "channel": "messages", "blob": blobs["checkpoint_writes"]}]
    for answer in (
        client.put("/api/v1/checkpoints/plain/", {"state": {"notes": f"plain {mark}"}}),
        client.put("/api/v1/graph-checkpoints/", graph | {"blob": blobs["checkpoints"]}),
        client.put("/api/v1/graph-checkpoints/writes/", graph | {"task_id": "task", "writes": writes}),
    ):
        assert answer.status_code in {201, 204}, answer.content
