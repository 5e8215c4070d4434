"""What the person refused leaves agents' reads, like what they rejected; for the person it stays under "Put away"."""

import pytest
from django.utils import timezone

from conversations.models import Withheld
from facts.actions import fact_delete, fact_reject
from journal.models import Ledger
from journal.undo import undo
from memories.actions import memories_decide, memory_archive, memory_reject
from memories.models import MemoryEvidence, Relation
from statements.models import RejectionReason
from tests.factories import ConversationFactory, LegacyFactFactory, MessageFactory
from tests.memories.rest import contents
from tests.memories.rest import url as memory_url
from tests.memories.rows import archive, remember

pytestmark = pytest.mark.django_db
API = "/api/v1/"


def telling(client, memory, other):
    """The reads whose answers hold the word "harp": of a memory, of one related to it, and of all."""
    asked = {"query": "harp", "known_at": timezone.now().isoformat()}
    tool = {"arguments": {"operation": "get_memory"}}
    answers = {
        "one": client.get(memory_url(memory)),
        "history": client.get(memory_url(memory, "history/")),
        "related": client.get(memory_url(other)),
        "relations": client.get(memory_url(other, "relations/")),
        "list": client.get(f"{API}memories/", {"state": "archived"}),
        "all": client.get(f"{API}memories/", {"state": "all"}),
        "document": client.get(f"{API}memories/document/"),
        "query": client.post(f"{API}memories/query/", asked, format="json"),
        "tool": client.post(f"{API}tools/manage_user_memory/", {"arguments": tool["arguments"]}, format="json"),
        "command": client.post(f"{API}command/", {"text": "/memory list"}, format="json"),
        "mem0": client.get(f"/mem0/v1/memories/{memory.pk}/history/"),
        "changes": client.get(f"{API}changes/"),
    }
    return {name for name, answer in answers.items() if "harp" in str(answer.content)}


@pytest.fixture
def memories(owner):
    """A memory of a harp, and one that is related to it."""
    memory, other = remember(owner, "The user plays the harp.", "The user makes music.")
    Relation.objects.create(user=owner, from_memory=other, to_memory=memory, type="related_to", strength=1)
    return memory, other


def _decline(me, memory):
    memories_decide(me, {memory.pk: None}, "archive", reason=RejectionReason.DONT_KEEP)


def _leave_with_words(me, memory):
    archive(memory, "withheld")


REFUSING = {
    "rejected": lambda me, memory: memory_reject(me, memory.pk, RejectionReason.DONT_KEEP),
    "deleted": lambda me, memory: memory_archive(me, memory.pk),
    "page": _decline,
    "withheld": _leave_with_words,
}


@pytest.mark.parametrize("how", REFUSING)
def test_a_refused_memory_is_told_to_no_agent(api, me, owner, agent, memories, how):
    memory, other = memories
    reader = api(agent)
    assert telling(reader, memory, other) >= {"one", "history", "document", "query", "tool", "command"}
    REFUSING[how](me, memory)
    assert telling(reader, memory, other) == set()
    assert {reader.get(memory_url(memory, path)).status_code for path in ("", "history/")} == {404}
    assert reader.post(memory_url(memory, "restore/")).status_code == 404
    assert telling(api(owner), memory, other) >= {"one", "history", "all"}
    assert memory.pk in str(reader.get(f"{API}changes/").content)


def test_an_undo_by_the_person_has_it_told_again(api, me, owner, agent, memories):
    memory_archive(me, memories[0].pk)
    rev = Ledger.objects.get(pk=owner.pk).rev
    assert not undo(me, rev, rev).left
    assert telling(api(agent), *memories) >= {"one", "history", "document", "query", "tool", "command"}


@pytest.mark.parametrize("why", ["agent", "ttl", "evicted", "replaced", "merged"])
def test_what_left_use_otherwise_stays_readable(api, agent, memories, why):
    archive(memories[0], why)
    assert telling(api(agent), *memories) >= {"one", "history", "list", "document", "command"}


@pytest.mark.parametrize("why", ["agent", "ttl", "evicted", "merged"])
def test_nor_one_that_left_use_before_its_words_were_withheld(api, owner, agent, memories, why):
    """Reproduction: only what was in use left agents' reads with its words."""
    memory = memories[0]
    said = MessageFactory(conversation=ConversationFactory(user=owner), content="I play the harp. It rains.")
    MemoryEvidence.objects.create(version=memory.versions.get(), message=said, quote="I play the harp.")
    archive(memory, why)
    assert telling(api(agent), *memories) >= {"one", "history", "document", "command"}
    passages = [{"conversation": str(said.conversation_id), "index": said.index, "quote": "harp"}]
    withheld = api(owner).post(f"{API}withheld/", {"passages": passages}, format="json")
    assert withheld.status_code == 201
    assert telling(api(agent), *memories) == set()
    assert telling(api(owner), *memories) >= {"one", "history"}
    row = Withheld.objects.passages().get()
    assert api(owner).delete(f"{API}withheld/{row.pk}/").status_code == 204
    assert telling(api(agent), *memories) >= {"one", "history", "document", "command"}


@pytest.mark.parametrize("refuse", [fact_reject, fact_delete])
def test_a_refused_fact_is_told_to_no_agent(api, me, owner, agent, legacy, refuse):
    fact = LegacyFactFactory(user=owner, legacy=legacy, content="Played the lute.")
    one, of_legacy = f"{API}facts/{fact.pk}/", f"{API}legacies/{legacy.pk}/facts/"
    reader = api(agent)
    assert {reader.get(f"{one}{path}").status_code for path in ("", "history/")} == {200}
    refuse(me, fact.pk)
    assert {reader.get(f"{one}{path}").status_code for path in ("", "history/")} == {404}
    for state in ("rejected", "archived", "all"):
        assert contents(reader.get(of_legacy, {"state": state})) == []
    assert contents(api(owner).get(of_legacy, {"state": "all"})) == [fact.content]
    assert "lute" not in str(reader.get(f"{API}changes/").content)
    rev = Ledger.objects.get(pk=owner.pk).rev
    assert not undo(me, rev, rev).left
    assert reader.get(one).json()["content"] == fact.content
