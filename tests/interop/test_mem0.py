"""mem0's platform API where its own clients do not reach: ``make test-clients`` runs those."""

import pytest

from accounts.models import User
from accounts.queries import principal_for_person
from assistant.learn.summarizing import maybe_summarize
from journal.models import OperationEvent
from memories.actions import memory_add, memory_approve
from memories.models import Memory
from memories.records import NewMemory
from tests import factories

pytestmark = pytest.mark.django_db
TEXT = "I keep  forty hens"


@pytest.fixture
def mem0(api, agent):
    """``mem0(method, path, body, key)``: a call of the API."""

    def call(method, path, body=None, key=agent):
        answer = getattr(api(key), method)(f"/mem0/{path}", body, **({"format": "json"} if body else {}))
        return answer.status_code, (answer.json() if answer.content else None)

    return call


@pytest.fixture
def kept(mem0, owner, agent):
    """Keep a text as it is. Returns what is answered of it."""

    def keep(text=TEXT, user=None, key=agent, **more):
        body = {"messages": text, "user_id": user or owner.username, "infer": False, **more}
        return mem0("post", "v3/memories/add/", body, key)[1]["results"][0]

    return keep


def test_what_a_deletion_leaves_to_the_person_waits_and_the_message_says_so(mem0, kept, owner):
    """It said "deleted" of what only waits."""
    mine = memory_add(principal_for_person(owner.pk), NewMemory("The user keeps hens.", "knowledge")).memory
    waits = {"message": "Waiting for the person's approval: 1. Deleted: 0."}
    assert mem0("delete", f"v1/memories/{mine.pk}/") == (200, waits)
    assert mem0("delete", "v1/batch/", {"memories": [{"memory_id": mine.pk}]}) == (200, waits)
    kept()
    both = {"message": "Waiting for the person's approval: 1. Deleted: 1.", "count": 1}
    assert mem0("delete", f"v1/memories/?user_id={owner.username}") == (200, both)
    assert mem0("delete", f"v2/entities/user/{owner.username}/") == (200, waits)
    assert Memory.objects.get(pk=mine.pk).state == "active"


def test_what_is_learned_is_an_event_that_ends(mem0, owner, api, agent):
    body = {"messages": [{"role": "user", "content": "Remember that I keep forty hens."}], "user_id": owner.username}
    status, told = mem0("post", "v3/memories/add/", {**body, "run_id": "r9"})
    assert (status, told["status"]) == (200, "PENDING")
    assert mem0("get", f"v1/event/{told['event_id']}/")[1]["status"] == "PENDING"
    maybe_summarize(owner.conversations.get().pk)
    event = mem0("get", f"v1/event/{told['event_id']}/")[1]
    assert event["status"] == "SUCCEEDED"
    assert [each["status"] for each in mem0("get", "v1/events/")[1]["results"]] == ["SUCCEEDED"]
    assert {each["id"] for each in event["results"]} == set(Memory.objects.values_list("pk", flat=True))
    assert set(Memory.objects.values_list("run_id", flat=True)) <= {"r9"}


def test_what_waits_says_so_and_is_listed_after_it_was_approved(mem0, kept, owner):
    factories.PreferencesFactory(user=owner, review="before")
    made = kept()
    assert made["state"] == "proposed"
    listed = {"filters": {"user_id": owner.username}}
    assert mem0("post", "v3/memories/", listed)[1]["results"] == []
    memory_approve(principal_for_person(owner.pk), made["id"])
    assert [each["memory"] for each in mem0("post", "v3/memories/", listed)[1]["results"]] == [TEXT]
    assert mem0("put", f"v1/memories/{made['id']}/", {"text": "fifty"})[1]["memory"] == TEXT


@pytest.mark.parametrize(
    "query", ["", "?user_id=", "?user_id=*", "?filters={'user_id': 'owner'}", "?user_id=owner&shoe=1", "?org_id=1"]
)
def test_an_unscoped_delete_is_refused(mem0, kept, query):
    kept()
    status, told = mem0("delete", f"v1/memories/{query}")
    assert (status, told["code"]) in {(400, "unscoped"), (400, "several_users")}
    assert Memory.objects.get().state == "active"


@pytest.mark.parametrize("name", ["%20", "*", "%20*%20"])
@pytest.mark.parametrize("kind", ["user", "agent", "app", "run"])
def test_an_entity_of_no_name_takes_nothing_away(mem0, kept, kind, name, agent, service):
    kept(agent_id="a", app_id="b", run_id="c")
    before = User.objects.count()
    for key in (agent, service):
        assert mem0("delete", f"v2/entities/{kind}/{name}/", key=key)[0] == 400
    assert Memory.objects.get().state == "active"
    assert User.objects.count() == before


def test_a_service_reaches_only_people_whom_it_knows(mem0, kept, service, owner, api, agent):
    foreign = kept()["id"]
    own = kept(user="42", key=service)["id"]
    for path in (f"v1/memories/{foreign}/", f"v1/memories/{foreign}/history/", "v1/memories/zzzzzzzz/"):
        assert mem0("get", path, key=service)[0] == 404
    assert mem0("delete", f"v1/memories/{foreign}/", key=service)[0] == 404
    assert mem0("get", f"v1/memories/{own}/", key=service)[1]["user_id"] == "42"
    assert mem0("get", f"v1/memories/{own}/")[0] == 404
    batch = {"memories": [{"memory_id": own}, {"memory_id": foreign}]}
    assert mem0("delete", "v1/batch/", batch, key=service)[0] == 404
    assert set(Memory.objects.values_list("state", flat=True)) == {"active"}


def test_reading_makes_nobody(mem0, service):
    before = User.objects.count()
    for path in ("v3/memories/", "v2/memories/"):
        assert mem0("post", path, {"filters": {"user_id": "nobody-yet"}}, key=service)[1]["count"] == 0
    assert mem0("post", "v3/memories/search/", {"query": "hens", "filters": {"user_id": "nobody-yet"}}, key=service)
    for path in ("v1/ping/", "v1/entities/", "v1/events/"):
        mem0("get", f"{path}?user_id=nobody-yet", key=service)
    for path in ("v1/memories/?user_id=nobody-yet", "v2/entities/user/nobody-yet/"):
        assert mem0("delete", path, key=service)[0] == 200
    assert User.objects.count() == before


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"messages": []}, "bad_messages"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "bad_messages"),
        ({"messages": [{"role": "assistant", "content": "I am."}]}, "bad_messages"),
        ({"messages": "x", "infer": False, "expiration_date": "soon"}, "bad_expiry"),
        ({"messages": "x", "infer": False, "metadata": [1]}, "bad_body"),
        ({"messages": "x", "infer": "false"}, "bad_body"),
    ],
)
def test_bad_input_changes_nothing(mem0, body, code):
    status, told = mem0("post", "v3/memories/add/", body)
    assert (status, told["code"]) == (400, code)
    assert not Memory.objects.exists()


@pytest.mark.parametrize(
    "filters",
    [
        {"shoe": 1},
        {"user_id": {"ne": "owner"}},
        {"NOT": [{"user_id": "owner"}]},
        {"OR": [{"user_id": "owner"}, {"user_id": "other"}]},
        {"AND": "x"},
        "x",
    ],
)
def test_filters_that_can_not_be_meant_are_refused(mem0, filters):
    for path in ("v3/memories/", "v3/memories/search/"):
        assert mem0("post", path, {"query": "hens", "filters": filters})[0] == 400


def test_third_version_takes_names_in_filters_alone(mem0, owner):
    assert mem0("post", "v3/memories/", {"user_id": owner.username})[0] == 400
    assert mem0("post", "v2/memories/", {"user_id": owner.username})[0] == 200


def test_feedback_is_noted_and_takes_nothing_away(mem0, kept):
    made = kept()
    assert mem0("post", "v1/feedback/", {"memory_id": made["id"], "feedback": "VERY_NEGATIVE"})[0] == 200
    assert OperationEvent.objects.filter(node="feedback", op="very_negative", object_id=made["id"]).exists()
    assert Memory.objects.get().state == "active"
    assert mem0("post", "v1/feedback/", {"memory_id": made["id"], "feedback": "MEH"})[0] == 400


def test_an_export_is_its_person_s(mem0, kept, service, owner):
    kept()
    named = mem0("post", "v1/exports/", {"filters": {"user_id": owner.username}})[1]["id"]
    assert len(mem0("post", "v1/exports/get/", {"memory_export_id": named})[1]["memories"]) == 1
    assert mem0("post", "v1/exports/get/", {"memory_export_id": named}, key=service)[0] in {403, 404}
    assert mem0("post", "v1/exports/get/", {"memory_export_id": named + "x"})[0] == 404


def test_it_takes_keys_alone(api, owner, mem0):
    assert api(owner).get("/mem0/v1/ping/").status_code == 401
    assert mem0("get", "v1/ping/")[1]["status"] == "ok"


NUL = "\x00"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("get", "v1/memories/%00/", None),
        ("get", "v1/memories/%00/history/", None),
        ("delete", "v2/entities/user/%00/", None),
        ("delete", "v2/entities/run/%00/", None),
        ("delete", "v1/memories/?run_id=%00", None),
        ("delete", "v1/memories/?user_id=%00", None),
        ("put", "v1/batch/", {"memories": [{"memory_id": NUL, "text": "x"}]}),
        ("delete", "v1/batch/", {"memories": [{"memory_id": NUL}]}),
        ("post", "v1/feedback/", {"memory_id": NUL, "feedback": "POSITIVE"}),
        ("post", "v3/memories/", {"filters": {"user_id": NUL}}),
        ("post", "v3/memories/", {"filters": {"run_id": NUL}}),
        ("post", "v3/memories/", {"filters": {"memory_ids": [NUL]}}),
        ("post", "v3/memories/", {"filters": {"agent_id": NUL}}),
        ("post", "v3/memories/", {"filters": {"keywords": {"contains": NUL}}}),
        ("post", "v3/memories/search/", {"query": NUL}),
        ("post", "v3/memories/add/", {"messages": NUL, "infer": False}),
        ("post", "v3/memories/add/", {"messages": NUL}),
        ("post", "v3/memories/add/", {"messages": "x", "run_id": NUL}),
        ("post", "v3/memories/add/", {"messages": "x", "agent_id": NUL, "infer": False}),
        ("post", "v3/memories/add/", {"messages": "x", "run_id": "x" * 1_000}),
        ("post", "v1/exports/", {"filters": {"run_id": NUL}}),
    ],
)
def test_what_can_not_be_stored_is_nobody_s_name(mem0, agent, service, method, path, body):
    for key in (agent, service):
        assert 400 <= mem0(method, path, body, key)[0] < 500


def test_entities_come_by_pages_where_one_is_asked_for(mem0, kept, service):
    for user in ("anna", "ben", "cem"):
        kept(user=user, key=service)
    kept(key=service, user="anna", run_id="r")
    status, told = mem0("get", "v1/entities/?page=2&page_size=2", key=service)
    assert (status, told["count"], [each["name"] for each in told["results"]]) == (200, 3, ["cem"])
    assert told["next"] is None
    assert "page=1&page_size=2" in told["previous"]
    told = mem0("get", "v1/entities/?page=2&page_size=3&user_id=anna", key=service)[1]
    assert (told["count"], [each["id"] for each in told["results"]]) == (4, ["run:r"])
    assert [each["type"] for each in mem0("get", "v1/entities/?user_id=anna", key=service)[1]["results"]] == [
        *["user"] * 3, "run"
    ]  # fmt: skip
    assert mem0("get", "v1/entities/?page=9", key=service)[1]["results"] == []
    assert mem0("get", "v1/entities/?page=no", key=service)[0] == 400
