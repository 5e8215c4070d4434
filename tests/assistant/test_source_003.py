"""Acceptance lines of the source document that the tests beside this one do not have by name: query, and its filters.

That requests with disallowed categories are rejected, that the context mode and the token budget are respected, and the
lines on relations stand in test_query.py; those on the delta header in test_delta.py.
"""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.queries import principal_for_person
from assistant.recall.query import Question, answer_question
from retrieval.filters import Filters
from retrieval.search import CANDIDATES
from tests import factories
from tests.conftest import with_key
from tests.memories.rows import remember

from .querying import ask, embedded, ids

pytestmark = pytest.mark.django_db

JUNE = datetime(2025, 6, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _hashed_vectors(settings):
    settings.KEEPSAKE_EMBEDDER = "hashing"


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
