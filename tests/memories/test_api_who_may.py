"""Every address of this room, tried by everybody, on what one person remembers."""

import re
from collections import defaultdict
from uuid import UUID

import pytest
from django.db.models import Count

from accounts.models import AgentKey
from accounts.queries import principal_for_person
from memories.actions import optimize_plan
from memories.models import Memory, MemoryPlan, Place, Proposal
from tests import factories
from tests.conftest import taken_back, with_key

from .rest import URL, add, contents, refusal, url

BODY = {"content": "Likes it short.", "category": "tone"}
OTHER = {"content": "Writes plainly.", "category": "tone"}
API = "/api/v1/"
NOTHING = {"memory": "nothere1"}

CALLERS = ["owner", "stranger", "staff", "agent", "planner", "reader", "revoked", "other_agent", "nobody"]
# The memory, the proposal and the place are the owner's; the planner's role lacks the categories tone and context.
#                                        owner stranger staff agent planner reader revoked other nobody
CASES = [
    ("GET", "memories/", None, [200, 200, 200, 200, 200, 200, 401, 200, 401]),
    ("POST", "memories/", OTHER, [201, 201, 201, 201, 403, 403, 401, 201, 401]),
    ("GET", "memories/topics/", None, [200, 200, 200, 200, 200, 200, 401, 200, 401]),
    ("GET", "memories/context/", None, [200, 200, 200, 200, 200, 200, 401, 200, 401]),
    ("GET", "memories/document/", None, [200, 200, 200, 200, 200, 200, 401, 200, 401]),
    ("POST", "memories/bulk-delete/", {"ids": ["aaaaaaaa"]}, [200, 200, 200, 200, 200, 403, 401, 200, 401]),
    ("POST", "memories/bulk/", {"items": [OTHER]}, [200, 200, 200, 200, 200, 403, 401, 200, 401]),
    ("GET", "memories/{memory}/", None, [200, 404, 404, 200, 404, 200, 401, 404, 401]),
    ("PUT", "memories/{memory}/", {"content": "Likes it long."}, [200, 404, 404, 202, 404, 403, 401, 404, 401]),
    ("PATCH", "memories/{memory}/", {"importance": 5}, [200, 404, 404, 202, 404, 403, 401, 404, 401]),
    ("DELETE", "memories/{memory}/", None, [204, 404, 404, 202, 404, 403, 401, 404, 401]),
    ("GET", "memories/{memory}/history/", None, [200, 404, 404, 200, 404, 200, 401, 404, 401]),
    ("POST", "memories/{memory}/restore/", None, [409, 404, 404, 409, 404, 403, 401, 404, 401]),
    ("POST", "memories/{memory}/revert/", {"number": 1}, [400, 404, 404, 400, 404, 403, 401, 404, 401]),
    ("POST", "memories/{memory}/pin/", None, [200, 404, 404, 200, 404, 403, 401, 404, 401]),
    ("POST", "memories/{memory}/approve/", None, [200, 404, 404, 403, 403, 403, 401, 403, 401]),
    ("POST", "memories/{memory}/reject/", None, [200, 404, 404, 403, 403, 403, 401, 403, 401]),
    ("GET", "memories/{memory}/relations/", None, [200, 404, 404, 200, 404, 200, 401, 404, 401]),
    ("GET", "memories/{memory}/disclosures/", None, [200, 404, 404, 403, 403, 403, 401, 403, 401]),
    ("POST", "memories/optimize/", {}, [200, 200, 200, 403, 403, 403, 401, 403, 401]),
    ("GET", "memories/optimize/{plan}/", None, [200, 404, 404, 404, 404, 404, 401, 404, 401]),
    ("POST", "memories/optimize/{plan}/apply/", None, [200, 404, 404, 403, 403, 403, 401, 403, 401]),
    ("POST", "memories/optimize/{plan}/revert/", None, [409, 404, 404, 403, 403, 403, 401, 403, 401]),
    ("DELETE", "memories/optimize/{plan}/", None, [204, 404, 404, 403, 403, 403, 401, 403, 401]),
    ("GET", "proposals/", None, [200, 200, 200, 200, 200, 200, 401, 200, 401]),
    ("GET", "proposals/{proposal}/", None, [200, 404, 404, 200, 404, 200, 401, 404, 401]),
    ("POST", "proposals/{proposal}/approve/", None, [200, 404, 404, 403, 403, 403, 401, 403, 401]),
    ("POST", "proposals/{proposal}/reject/", None, [200, 404, 404, 403, 403, 403, 401, 403, 401]),
    ("GET", "places/", None, [200, 200, 200, 200, 200, 200, 401, 200, 401]),
    ("POST", "places/", {"place_id": "gym", "name": "Gym"}, [201, 201, 201, 201, 403, 403, 401, 201, 401]),
    ("GET", "places/{place}/", None, [200, 404, 404, 200, 404, 200, 401, 404, 401]),
    ("PATCH", "places/{place}/", {"name": "Old home"}, [200, 404, 404, 202, 403, 403, 401, 404, 401]),
    ("DELETE", "places/{place}/", None, [204, 404, 404, 202, 403, 403, 401, 404, 401]),
    ("POST", "places/{place}/restore/", None, [409, 404, 404, 403, 403, 403, 401, 403, 401]),
    ("GET", "places/{place}/mentions/", None, [200, 404, 404, 200, 404, 200, 401, 404, 401]),
    ("POST", "places/{place}/mentions/", {"message": "{message}"}, [201, 404, 404, 201, 403, 403, 401, 404, 401]),
    ("GET", "changes/", None, [200, 200, 200, 200, 200, 200, 401, 200, 401]),
]


@pytest.fixture
def planner(owner):
    """An agent of the owner whose role lacks the category."""
    return with_key(factories.AgentFactory(name="planner", owner=owner, role="planner"))


@pytest.fixture
def reader(agent):
    """The agent with a key that only reads."""
    return factories.AgentKeyFactory(agent=agent, scopes=["read"])


@pytest.fixture
def revoked(agent):
    """The agent with a key that was taken back."""
    key = factories.AgentKeyFactory(agent=agent)
    AgentKey.objects.filter(pk=key.pk).update(revoked_at=key.created_at)
    return key


@pytest.fixture
def proposal(api, owner, agent):
    """What the agent would add, while the owner reviews before."""
    preferences = factories.PreferencesFactory(user=owner, review="before")
    add(api(agent), "Hates exclamation marks.", "tone")
    preferences.delete()
    return Proposal.objects.get()


@pytest.fixture
def place(api, owner):
    """A place of the owner."""
    return api(owner).post("/api/v1/places/", {"place_id": "home", "name": "Home"}).json()


@pytest.fixture
def plan(owner):
    """A plan of the owner to say nothing in fewer."""
    return optimize_plan(principal_for_person(owner.pk))


@pytest.fixture
def message(owner):
    """A message of the owner."""
    return factories.MessageFactory(conversation=factories.ConversationFactory(user=owner))


@pytest.fixture
def memory(api, owner):
    """A memory of the owner."""
    return add(api(owner), **BODY)


@pytest.fixture
def named(request):
    """``named(path, body)``: a path and a body with the ids of the owner's rows; only what they name is made."""

    def id_of(name):
        row = request.getfixturevalue(name)
        return row["id"] if isinstance(row, dict) else str(row.pk)

    def fill(text):
        return re.sub(r"\{(\w+)\}", lambda match: id_of(match[1]), text)

    def named(path, body):
        return fill(path), {
            key: fill(value) if isinstance(value, str) else value for key, value in (body or {}).items()
        }

    return named


def by_what_they_name(cases):
    """The cases by the rows that their paths and bodies name, which are made once for all of them."""
    groups = defaultdict(list)
    for case in cases:
        groups[" ".join(re.findall(r"\{(\w+)\}", f"{case[1]} {case[2] and [*case[2].values()]}"))].append(case)
    return [pytest.param(group, id=name or "none") for name, group in groups.items()]


@pytest.mark.parametrize("cases", by_what_they_name(CASES))
def test_who_may(request, api, owner, memory, named, cases):
    callers = {name: api(None if name == "nobody" else request.getfixturevalue(name)) for name in CALLERS}
    for method, path, sent, statuses in cases:
        address, body = named(path, sent)
        before = stored(owner)
        for (caller, client), status in zip(callers.items(), statuses, strict=True):
            where = method, path, caller
            with taken_back():
                answer = getattr(client, method.lower())(API + address, body)
                assert answer.status_code == status, (*where, answer.content)
                if status >= 400:
                    assert set(answer.json()) >= {"detail", "code"}, where
                if status >= 400 or method == "GET" or caller in {"stranger", "staff", "other_agent"}:
                    assert stored(owner) == before, where
                if status < 400 and caller in {"stranger", "staff", "planner", "other_agent"}:
                    assert b"short" not in answer.content, where
                    assert memory["id"].encode() not in answer.content, where


def stored(person):
    """What is remembered about a person, as it is stored."""
    memories = Memory.objects.filter(user=person).order_by("pk").values("pk", "state", "version", "updated_at")
    proposals = Proposal.objects.filter(user=person).values("pk", "state")
    places = Place.objects.filter(user=person).annotate(mentioned=Count("mentions")).order_by("pk")
    plans = MemoryPlan.objects.filter(user=person).values("pk", "state")
    return list(memories), list(proposals), list(places.values("pk", "version", "deleted_at", "mentioned")), list(plans)


@pytest.mark.parametrize("cases", by_what_they_name(each for each in CASES if "{" in each[1]))
def test_what_is_somebody_else_s_looks_like_what_is_missing(api, stranger, other_agent, named, cases):
    for method, path, sent, _ in cases:
        theirs, body = named(path, sent)
        nothing = re.sub(r"\{(\w+)\}", lambda match: NOTHING.get(match[1], str(UUID(int=0))), path)
        for client in (api(stranger), api(other_agent)):
            answers = [getattr(client, method.lower())(API + each, body) for each in (theirs, nothing)]
            assert answers[0].status_code == answers[1].status_code >= 403, (method, path)
            assert answers[0].content == answers[1].content, (method, path)


def test_a_key_with_admin_takes_the_person_s_decisions(api, owner, agent, proposal):
    admin = api(with_key(agent, ["read", "write", "admin"]))
    waiting = str(proposal.memory_id)
    assert admin.post(url(waiting, "approve/")).json()["state"] == "active"
    assert admin.post(url(waiting, "reject/")).json()["state"] == "rejected"
    assert admin.get(url(waiting)).json()["state"] == "rejected"
    assert admin.post(url(waiting, "restore/")).json()["state"] == "active"
    made = add(admin, **BODY)
    assert (made["written_by"], made["reviewed_at"]) == ("", made["created_at"])


def test_pages_kept_for_a_key_that_decides_are_not_shown_to_one_that_does_not(
    api, owner, agent, django_capture_on_commit_callbacks
):
    reads = api(agent)
    decides = api(with_key(agent, ["read", "write", "admin"]))
    made = add(api(owner), **BODY)
    api(owner).post(url(made, "reject/"))
    with django_capture_on_commit_callbacks(execute=True):
        assert contents(decides.get(f"{URL}?state=all")) == [BODY["content"]]
    assert contents(reads.get(f"{URL}?state=all")) == []


def test_an_agent_that_is_kept_out_sees_nothing_from_its_next_request_on(api, owner, agent):
    made = add(api(owner), **BODY)
    client = api(agent)
    assert client.get(url(made)).status_code == 200
    api(owner).patch(f"{API}agents/{agent.pk}/grant/", {"categories": ["goals"]})
    assert client.get(url(made)).status_code == 404
    assert contents(client.get(URL)) == []
    assert refusal(client.put(url(made), {"content": "Likes it long."})) == (404, "not_found")
    api(owner).patch(f"{API}agents/{agent.pk}/grant/", {"revoked": True})
    assert client.get(URL).status_code in {401, 403}
