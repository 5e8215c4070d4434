"""What waits for the person, over REST: the list, one proposal, approving it as it is or otherwise, rejecting it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from memories.models import Proposal
from memories.records import BEFORE_USE, FIELD_WAITS, KEPT
from tests import factories
from tests.conftest import with_key

from .rest import BODY, URL, add, contents, now, refusal, url

PROPOSALS = "/api/v1/proposals/"


@pytest.fixture
def known(api, owner):
    """A memory of the owner, who reviews before from then on."""
    made = add(api(owner))
    factories.PreferencesFactory(user=owner, review="before")
    return made


@pytest.fixture
def propose(api, agent, known):
    """``propose("update")``: what the agent would do to the known memory, as a proposal is shown."""

    def propose(kind, **values):
        client = api(agent)
        if kind == "create":
            add(client, **{"content": "Sings in a choir.", **values})
        elif kind == "update":
            assert client.put(url(known), {"content": "Keeps wasps.", **values}).status_code == 202
        else:
            assert client.delete(url(known)).status_code == 202
        return shown(client.get(PROPOSALS))[0]

    return propose


def shown(answer):
    assert answer.status_code == 200, answer.content
    return answer.json()["results"]


def address(proposal, what=""):
    return f"{PROPOSALS}{proposal['id']}/{what}"


def test_a_proposal_tells_what_would_change_and_where_it_comes_from(api, owner, agent, known, propose):
    message = factories.MessageFactory(
        conversation=factories.ConversationFactory(user=owner, agent=agent), content="They are wasps now."
    )
    made = propose("update", conversation=str(message.conversation_id), message=str(message.pk))
    answer = api(owner).get(address(made)).json()
    assert answer == {
        "id": made["id"],
        "kind": "update",
        "state": "waiting",
        "values": {"content": "Keeps wasps."},
        "memory": {
            "id": known["id"],
            "content": BODY["content"],
            "category": "interests",
            "subject": "",
            "kind": "semantic",
            "field": "",
            "state": "active",
            "version": 1,
        },
        "memory_version": 1,
        "agent": str(agent.pk),
        "written_by": "agent",
        "reason": KEPT,
        "source_conversation": str(message.conversation_id),
        "evidence": [
            {
                "quote": "They are wasps now.",
                "conversation": str(message.conversation_id),
                "message": str(message.pk),
                "index": 0,
                "at": answer["evidence"][0]["at"],
            }
        ],
        "created_at": made["created_at"],
        "expires_at": made["expires_at"],
        "decided_at": None,
    }
    factories.GrantFactory._meta.model.objects.filter(agent=agent).update(sources=["facts"])
    hidden = api(agent).get(address(made)).json()
    assert (hidden["source_conversation"], hidden["evidence"]) == (None, [])


def test_an_agent_sees_those_it_made(api, owner, agent, propose):
    propose("create")
    other = with_key(factories.AgentFactory(name="other", owner=owner))
    assert shown(api(other).get(PROPOSALS)) == []
    add(api(other), "Paints boats.")
    assert [each["written_by"] for each in shown(api(other).get(PROPOSALS))] == ["other"]
    assert len(shown(api(owner).get(PROPOSALS))) == 2


def test_an_agent_that_lost_the_category_sees_its_own_words_only(api, owner, agent, propose):
    made = propose("update")
    factories.GrantFactory._meta.model.objects.filter(agent=agent).update(categories=["tone"])
    answer = api(agent).get(address(made)).json()
    assert (answer["memory"], answer["values"]) == (None, {"content": "Keeps wasps."})


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ("", ["archive", "update", "create"]),
        ("?kind=update", ["update"]),
        ("?state=waiting", ["archive", "update", "create"]),
        ("?state=rejected", []),
        ("?state=all", ["archive", "update", "create"]),
        ("?per_page=1&page=2", ["update"]),
    ],
)
def test_those_that_wait_are_listed_the_latest_first(api, owner, propose, query, kinds):
    for kind in ("create", "update", "archive"):
        propose(kind)
    assert [each["kind"] for each in shown(api(owner).get(PROPOSALS + query))] == kinds


@pytest.mark.parametrize("query", ["?kind=wish", "?state=gone"])
def test_a_filter_that_is_none_is_refused_by_name(api, owner, query):
    answer = api(owner).get(PROPOSALS + query)
    assert answer.status_code == 400
    assert answer.json().keys() == {query[1:].partition("=")[0]}


def test_queries_do_not_grow_with_the_list(api, owner, agent, propose, django_assert_num_queries):
    """A key: principal, count, proposals, their memories, their evidence."""
    client = api(agent)
    propose("create")
    with django_assert_num_queries(5):
        client.get(PROPOSALS)
    for number in range(10):
        propose("create", content=f"Sings in choir number {number}.", insist=True)
    with django_assert_num_queries(5):
        assert len(shown(client.get(PROPOSALS))) == 11


class TestDeciding:
    def test_a_create_that_is_approved_counts(self, api, owner, propose):
        made = propose("create")
        answer = api(owner).post(address(made, "approve/"))
        assert (answer.status_code, answer.json()["state"], answer.json()["memory"]["state"]) == (
            200,
            "approved",
            "active",
        )
        assert "Sings in a choir." in contents(api(owner).get(URL))

    def test_an_update_that_is_approved_is_the_next_version(self, api, owner, known, propose):
        made = propose("update")
        answer = api(owner).post(address(made, "approve/")).json()
        assert (answer["state"], answer["memory"]["content"]) == ("approved", "Keeps wasps.")
        assert answer["decided_at"]
        assert now(known).version == 2

    def test_an_archive_that_is_approved_puts_it_away(self, api, owner, known, propose):
        made = propose("archive")
        assert api(owner).post(address(made, "approve/")).json()["memory"]["state"] == "archived"

    def test_it_can_be_approved_otherwise(self, api, owner, known, propose):
        made = propose("update")
        values = {"content": "Keeps hornets.", "importance": 5}
        answer = api(owner).post(address(made, "approve/"), {"values": values}).json()
        assert answer["memory"]["content"] == "Keeps hornets."
        assert (now(known).importance, now(known).written_by) == (5, "")

    def test_a_rejected_one_changes_nothing_and_its_words_stay_away(self, api, owner, agent, known, propose):
        made = propose("update")
        answer = api(owner).post(address(made, "reject/"), {"reason": "not_true"}).json()
        assert answer["state"] == "rejected"
        assert now(known).content == BODY["content"]
        assert refusal(api(agent).put(url(known), {"content": "Keeps wasps."})) == (422, "rejected_before")

    def test_an_update_of_what_changed_meanwhile_shows_what_it_reads_now(self, api, owner, known, propose):
        made = propose("update")
        api(owner).put(url(known), {"content": "Keeps hornets."})
        answer = api(owner).post(address(made, "approve/"))
        assert refusal(answer) == (409, "stale_proposal")
        assert answer.json()["memory"]["content"] == "Keeps hornets."
        assert answer.json()["proposed"] == {"content": "Keeps wasps."}

    @pytest.mark.parametrize("what", ["approve/", "reject/"])
    def test_it_is_decided_once(self, api, owner, propose, what):
        made = propose("create")
        answers = [api(owner).post(address(made, what), HTTP_IDEMPOTENCY_KEY="k1") for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert answers[0].json() == answers[1].json()
        for other in ("approve/", "reject/"):
            assert refusal(api(owner).post(address(made, other))) == (409, "wrong_state")

    def test_approving_the_memory_is_approving_its_proposal(self, api, owner, propose):
        made = propose("create")
        api(owner).post(url(made["memory"], "approve/"))
        assert api(owner).get(address(made)).json()["state"] == "approved"

    def test_a_lapsed_one_is_not_decided_about(self, api, owner, propose):
        made = propose("update")
        Proposal.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
        answer = api(owner).post(address(made, "approve/"))
        assert refusal(answer) == (409, "wrong_state")
        assert answer.json()["state"] == "lapsed"

    @pytest.mark.parametrize(
        ("what", "body", "status"),
        [
            ("approve/", {"values": "x"}, 400),
            ("approve/", {"values": {"state": "active"}}, 400),
            ("approve/", {"values": {"content": "bee"}}, 422),
            ("approve/", {"values": {"content": {}}}, 400),
            ("approve/", {"values": {"content": None}}, 400),
            ("approve/", {"values": {"category": ["x"]}}, 400),
            ("approve/", {"values": {"topics": 5}}, 400),
            ("approve/", {"values": {"topics": [None]}}, 400),
            ("approve/", {"values": {"subject": {}}}, 400),
            ("approve/", {"values": {"importance": "high"}}, 400),
            ("approve/", {"values": {"expires_at": "soon"}}, 400),
            ("approve/", {"values": {"expires_at": 5}}, 400),
            ("approve/", {"values": {"valid_from": "2026-13-45"}}, 400),
            ("reject/", {"reason": "They are bees."}, 400),
        ],
    )
    def test_bad_input_is_refused_and_nothing_changes(self, api, owner, known, propose, what, body, status):
        made = propose("update")
        answer = api(owner).post(address(made, what), body)
        assert answer.status_code == status, answer.content
        assert api(owner).get(address(made)).json()["state"] == "waiting"
        assert now(known).version == 1


def test_every_proposed_memory_says_why_it_waits(api, owner, agent):
    """Reproduction: a value of a field, and all where the person reviews before use, waited without a reason."""
    city = add(api(agent), "The user lives in Porto.", "context")
    assert (city["state"], city["state_reason"]) == ("proposed", FIELD_WAITS)
    factories.PreferencesFactory(user=owner, review="before")
    bees = add(api(agent), "The user keeps bees.", "context")
    assert (bees["state"], bees["state_reason"]) == ("proposed", BEFORE_USE)
    listed = api(owner).get(URL, {"state": "proposed"}).json()["results"]
    assert {each["state_reason"] for each in listed} == {FIELD_WAITS, BEFORE_USE}
    assert api(owner).post(f"{URL}{bees['id']}/approve/").json()["state_reason"] == ""
