"""What members' change feeds tell of facts that others share: a client that keeps a copy learns each change."""

import pytest

from accounts.queries import principal_for_person, principal_for_staff
from assistant.erasure.actions import erasure_request, run_erasure
from assistant.learn import summarizing
from facts import actions
from journal.models import Change, JobRun, Ledger
from tests import factories
from tests.conftest import with_key

from .conftest import rev, url

CHANGES = "/api/v1/changes/"


def tell():
    """What the tasks do."""
    for pk in Ledger.objects.untold().values_list("pk", flat=True):
        actions.members_tell(pk)


@pytest.fixture
def told(api, member, django_capture_on_commit_callbacks):
    """``told(do)``: what the feed of the member's agent tells of facts when that was done."""
    agent = api(with_key(factories.AgentFactory(owner=member)))

    def told(do):
        since = rev(member)
        with django_capture_on_commit_callbacks():
            do()
        tell()
        feed = agent.get(f"{CHANGES}?after={since}").json()["results"]
        return [(each["event"], each["object"]) for each in feed if each["object_type"] in {"fact", "member"}]

    return told


def test_of_one_that_is_shared_reworded_and_unshared(api, add, told, owner, legacy):
    fact = add(owner, legacy, "Rosa sang alto.")
    pk = str(fact.pk)
    assert told(lambda: api(owner).patch(url(fact), {"content": "Rosa sang soprano."})) == []
    assert told(lambda: api(owner).patch(url(fact, "visibility/"), {"visibility": "shared"})) == [("SHARE", pk)]
    assert told(lambda: api(owner).patch(url(fact), {"content": "Rosa sang tenor."})) == [("UPDATE", pk)]
    assert told(lambda: api(owner).patch(url(fact, "visibility/"), {"visibility": "private"})) == [("UNSHARE", pk)]


@pytest.mark.parametrize("way", ["reject", "delete", "withhold", "leave", "hide"])
def test_of_one_that_is_there_no_more(api, owner, member, staff, legacy, extract, told, way):
    extract(owner, legacy, "Rosa sang alto.")
    fact = legacy.facts.get()
    api(owner).patch(url(fact, "visibility/"), {"visibility": "shared"})
    tell()
    message = fact.evidence.get().message
    membership = f"/api/v1/legacies/{legacy.pk}/members/{legacy.memberships.get(user=owner).pk}/"
    api(owner).patch(
        f"/api/v1/legacies/{legacy.pk}/members/{legacy.memberships.get(user=member).pk}/", {"role": "owner"}
    )
    passages = [{"conversation": str(message.conversation_id), "index": message.index, "quote": message.content}]
    ways = {
        "reject": lambda: api(owner).post(url(fact, "reject/")),
        "delete": lambda: api(owner).delete(url(fact)),
        "withhold": lambda: api(owner).post("/api/v1/withheld/", {"passages": passages}, format="json"),
        "leave": lambda: api(owner).delete(membership),
        "hide": lambda: actions.fact_hide(principal_for_staff(staff), fact.pk, "Not nice."),
    }
    assert told(ways[way]) == [("UNSHARE", str(fact.pk))]


@pytest.mark.parametrize("scope", ["fact", "everything"])
def test_of_one_that_is_erased(shared, owner, member, legacy, told, scope):
    fact = shared(owner, legacy)
    tell()

    def erase():
        me = principal_for_person(owner.pk)
        erasure_request(me, scope, str(fact.pk) if scope == "fact" else "", grace_hours=0)
        run_erasure(JobRun.objects.get(kind="erase").pk)

    assert ("UNSHARE", str(fact.pk)) in told(erase)
    assert not Change.objects.filter(ledger_id=member.pk, actor_id=str(owner.pk)).exists()


def test_with_the_legacy_and_without_its_author(api, shared, owner, member, legacy):
    shared(owner, legacy)
    tell()
    (told,) = (each for each in api(member).get(CHANGES).json()["results"] if each["object_type"] == "fact")
    assert (told["meta"], told["actor"]) == ({"legacy": str(legacy.pk)}, "person")
    assert str(owner.pk) not in str(told)
    assert not Change.objects.filter(ledger_id=member.pk).exclude(actor_id__in=["", str(member.pk)]).exists()


def test_of_their_own_once_only(api, shared, member, legacy):
    fact = shared(member, legacy)
    tell()
    events = [each["event"] for each in api(member).get(CHANGES).json()["results"] if each["object"] == str(fact.pk)]
    assert events == ["ADD", "SHARE"] or events == ["ADD"]


def test_and_of_leaving_the_legacy(api, shared, owner, member, legacy, told):
    fact = shared(owner, legacy)
    tell()
    own = legacy.memberships.get(user=member)
    path = f"/api/v1/legacies/{legacy.pk}/members/{own.pk}/"
    assert told(lambda: api(member).delete(path)) == [("LEAVE", str(own.pk))]
    assert api(member).get(url(fact)).status_code == 404


def test_not_to_an_agent_that_sees_no_facts(api, shared, owner, member, legacy):
    stylist = api(with_key(factories.AgentFactory(owner=member, role="stylist")))
    shared(owner, legacy)
    tell()
    assert {each["object_type"] for each in stylist.get(CHANGES).json()["results"]} <= {"agent", "preferences"}


def test_each_change_once_and_what_comes_meanwhile_next(api, shared, owner, member, legacy):
    shared(owner, legacy, "Rosa sang alto.")
    tell()
    shared(owner, legacy, "Rosa kept bees.")
    actions.members_tell(legacy.pk)
    actions.members_tell(legacy.pk)
    told = Change.objects.of_owner(member.pk).filter(object_type="fact")
    assert list(told.values_list("event", flat=True)) == ["SHARE", "SHARE"]
    assert not Ledger.objects.filter(untold_from__isnull=False).exists()


def test_who_may_not_sign_in_keeps_nobody_else_from_being_told(shared, owner, member, stranger, legacy):
    shared(owner, legacy)
    legacy.memberships.create(user=stranger)
    type(stranger).objects.filter(pk__in=[owner.pk, stranger.pk]).update(is_active=False)
    tell()
    told = Change.objects.filter(object_type="fact", event="SHARE", ledger__in=[member.pk, stranger.pk])
    assert {each.ledger_id for each in told} == {member.pk, stranger.pk}


def test_each_legacy_is_told_by_a_task_of_its_own(shared, owner, legacy, monkeypatch):
    shared(owner, legacy)
    queued = []
    monkeypatch.setattr("facts.actions.telling.enqueue", lambda *task: queued.append(task))
    actions.members_tell()
    assert queued == [("facts.tell_members", legacy.pk)]


def test_a_lost_task_is_found_by_the_sweep(shared, owner, legacy, monkeypatch):
    queued = []
    monkeypatch.setattr(summarizing, "enqueue", lambda task, *_: queued.append(task))
    summarizing.sweep()
    assert "facts.tell_members" not in queued
    shared(owner, legacy)
    summarizing.sweep()
    assert "facts.tell_members" in queued


def test_a_task_tells_it_at_once(shared, owner, legacy, monkeypatch, django_capture_on_commit_callbacks):
    queued = []
    monkeypatch.setattr("journal.queue.current_app.send_task", lambda task, args, **_: queued.append((task, args)))
    with django_capture_on_commit_callbacks(execute=True):
        shared(owner, legacy, "Rosa sang alto.")
        shared(owner, legacy, "Rosa kept bees.")
    assert [args for task, args in queued if task == "facts.tell_members"] == [[str(legacy.pk)]]
