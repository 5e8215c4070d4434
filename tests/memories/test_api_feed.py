"""The change feed over REST: what happened after a revision, and who is told of it."""

import pytest

from memories.models import Memory
from statements.actions import statements_purge
from tests import factories
from tests.conftest import with_key
from tests.factories import rev_of

from .rest import BODY, URL, add, url

CHANGES = "/api/v1/changes/"


def feed(client, query=""):
    answer = client.get(CHANGES + query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def events(client, query=""):
    return [(each["event"], each["object"]) for each in feed(client, query)["results"]]


def test_it_tells_what_happened_in_order_without_any_text(api, owner, agent):
    message = factories.MessageFactory(conversation=factories.ConversationFactory(user=owner))
    made = add(api(agent), conversation=str(message.conversation_id))
    api(owner).put(url(made), {"content": "Keeps wasps."})
    api(owner).delete(url(made))
    shown = feed(api(owner))
    added, updated, deleted = [each for each in shown["results"] if each["object_type"] == "memory"]
    assert added == {
        "rev": added["rev"],
        "event": "ADD",
        "object_type": "memory",
        "object": made["id"],
        "old_version": None,
        "new_version": 1,
        "actor": f"agent:{agent.pk}",
        "conversation": str(message.conversation_id),
        "at": added["at"],
        "meta": {},
    }
    assert (updated["event"], updated["old_version"], updated["new_version"], updated["actor"]) == (
        "UPDATE",
        1,
        2,
        "person",
    )
    assert (deleted["event"], deleted["meta"]["why"]) == ("DELETE", "person")
    assert [each["rev"] for each in shown["results"]] == list(range(1, rev_of(owner) + 1))
    assert shown["next_after"] == rev_of(owner)
    for word in ("bees", "wasps"):
        assert word not in str(shown)


def test_it_is_read_on_from_where_one_was(api, owner):
    ids = [add(api(owner), f"Keeps {number} bees.")["id"] for number in range(5)]
    first = feed(api(owner), "?per_page=2")
    assert ([each["object"] for each in first["results"]], first["next_after"]) == (ids[:2], 2)
    rest = feed(api(owner), f"?after={first['next_after']}")
    assert ([each["object"] for each in rest["results"]], rest["next_after"]) == (ids[2:], 5)
    assert feed(api(owner), "?after=5") == {"results": [], "next_after": 5}
    assert feed(api(owner), "?after=99") == {"results": [], "next_after": 99}


def test_somebody_new_has_nothing_in_it(api, stranger):
    assert feed(api(stranger)) == {"results": [], "next_after": 0}


@pytest.mark.parametrize("query", ["?after=-1", "?after=x", f"?after={2**63}", "?per_page=0", "?per_page=501"])
def test_bad_input_is_refused_by_name(api, owner, query):
    answer = api(owner).get(CHANGES + query)
    assert answer.status_code == 400
    assert answer.json().keys() == {query[1:].partition("=")[0]}


def test_it_takes_one_query_beside_the_principal(api, owner, agent, django_assert_num_queries):
    client = api(agent)
    client.get(CHANGES)
    for number in range(1, 12):
        add(api(owner), f"Keeps {number} bees.")
        if number in (1, 11):
            with django_assert_num_queries(2):
                feed(client)


class TestWhatAgentsAreTold:
    def test_of_memories_of_their_categories(self, api, owner):
        stylist = api(with_key(factories.AgentFactory(name="stylist", owner=owner, role="stylist")))
        add(api(owner))
        made = add(api(owner), "Likes it short.", "tone")
        before = feed(stylist)
        assert [each["object"] for each in before["results"] if each["object_type"] == "memory"] == [made["id"]]
        # What it may not see is not looked through again.
        add(api(owner), "Sings in a choir.")
        assert feed(stylist, f"?after={before['next_after']}") == {"results": [], "next_after": rev_of(owner)}

    def test_that_what_they_saw_is_gone(self, api, owner, agent):
        made = add(api(owner))
        reached = feed(api(agent))["next_after"]
        api(owner).post(url(made, "reject/"))
        assert api(agent).get(url(made)).status_code == 404
        assert events(api(agent), f"?after={reached}") == [("REJECT", made["id"])]

    def test_that_what_they_saw_was_filed_where_they_may_not_look(self, api, owner):
        stylist = api(with_key(factories.AgentFactory(name="stylist", owner=owner, role="stylist")))
        made = add(api(owner), "Likes it short.", "tone")
        reached = feed(stylist)["next_after"]
        api(owner).patch(url(made), {"category": "person"})
        assert stylist.get(url(made)).status_code == 404
        (told,) = feed(stylist, f"?after={reached}")["results"]
        assert (told["event"], told["object"], told["meta"]) == ("UPDATE", made["id"], {"changed": ["category"]})
        api(owner).patch(url(made), {"category": "event"})
        assert events(stylist, f"?after={reached}") == [("UPDATE", made["id"])]
        # Where it came from is nobody's business who could not see it there.
        api(owner).patch(url(made), {"category": "tone"})
        told = feed(stylist, f"?after={reached}")["results"] + stylist.get(url(made, "history/")).json()["results"]
        assert [each["meta"] for each in told if each["event"] == "UPDATE"] == [{"changed": ["category"]}] * 6

    def test_of_what_they_propose_and_not_of_what_others_do(self, api, owner, agent):
        factories.PreferencesFactory(user=owner, review="before")
        other = with_key(factories.AgentFactory(name="other", owner=owner))
        made = add(api(agent))
        assert ("PROPOSE", made["id"]) in events(api(agent))
        assert made["id"] not in str(feed(api(other)))
        decides = with_key(factories.AgentFactory(name="decides", owner=owner), ["read", "admin"])
        assert ("PROPOSE", made["id"]) in events(api(decides))
        api(owner).post(url(made, "approve/"))
        assert ("APPROVE", made["id"]) in events(api(other))

    def test_of_proposals_that_they_made(self, api, owner, agent):
        made = add(api(owner))
        factories.PreferencesFactory(user=owner, review="before")
        proposal = api(agent).put(url(made), {"content": "Keeps wasps."}).json()["proposal"]
        other = with_key(factories.AgentFactory(name="other", owner=owner))
        assert ("PROPOSE", proposal["id"]) in events(api(agent))
        assert proposal["id"] not in str(feed(api(other)))

    def test_of_preferences_and_their_own_access(self, api, owner, agent):
        other = factories.AgentFactory(name="other", owner=owner)
        api(agent).get(CHANGES)
        for each in (agent, other):
            api(owner).patch(f"/api/v1/agents/{each.pk}/grant/", {"sources": ["facts", "turns"]})
        api(owner).patch("/api/v1/me/preferences/", {"has_memory": False})
        assert events(api(agent)) == [("GRANT", str(agent.pk)), ("PREFERENCE", str(owner.pk))]

    def test_of_nothing_remembered_while_memory_is_off(self, api, owner, agent):
        add(api(owner))
        factories.PreferencesFactory(user=owner, has_memory=False)
        assert events(api(agent)) == []
        assert len(events(api(owner))) == 1

    def test_of_facts_when_they_see_them(self, api, owner, agent, legacy):
        made = factories.LegacyFactFactory(legacy=legacy, user=owner)
        assert ("ADD", str(made.pk)) in events(api(agent))
        factories.GrantFactory._meta.model.objects.filter(agent=agent).update(sources=["turns"])
        assert events(api(agent)) == []

    def test_not_where_it_was_said_without_turns(self, api, owner, agent):
        talk = factories.ConversationFactory(user=owner)
        add(api(owner), conversation=str(talk.pk))
        assert feed(api(agent))["results"][0]["conversation"] == str(talk.pk)
        factories.GrantFactory._meta.model.objects.filter(agent=agent).update(sources=["facts"])
        assert feed(api(agent))["results"][0]["conversation"] is None


def test_a_purge_is_in_every_feed(api, owner, agent):
    from memories.models import MEMORY

    made = add(api(owner))
    reached = feed(api(agent))["next_after"]
    api(owner).delete(url(made))
    Memory.objects.update(purge_at=Memory.objects.get().deleted_at)
    statements_purge(MEMORY)
    assert not Memory.objects.exists()
    assert [event for event, _ in events(api(owner))] == ["ADD", "DELETE", "PURGE"]
    assert ("PURGE", made["id"]) in events(api(agent), f"?after={reached}")
    assert api(owner).get(url(made)).status_code == 404
    assert BODY["content"] not in str(feed(api(owner)))
    assert api(owner).get(URL).json()["count"] == 0
