"""Words that are erased stay in no earlier version of another memory or fact."""

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person
from assistant.erasure.actions import erasure_request, run_erasure
from facts.actions import fact_edit
from facts.models import FactVersion
from journal.holdings import ERASED_TEXT
from memories.actions import memory_add, memory_reject, memory_update
from memories.models import MemoryVersion
from memories.records import NewMemory
from statements.models import RejectionReason
from tests.factories import LegacyFactFactory
from tests.memories.rest import URL

pytestmark = pytest.mark.django_db
DEBTS, BEES = "The user owes Karl nine thousand euros.", "The user keeps bees near Lisbon."


@pytest.fixture
def reworded(owner):
    """A memory that once said what another one says now; both, and when it did."""
    me = principal_for_person(owner.pk)
    first = memory_add(me, NewMemory(DEBTS, "context")).memory
    known_at = timezone.now()
    memory_update(me, first.pk, BEES)
    return first, memory_add(me, NewMemory("the user owes Karl nine thousand euros", "context")).memory, known_at


def readings(client, memory, known_at):
    asked = client.post(f"{URL}query/", {"query": "euros", "known_at": known_at.isoformat()}, format="json")
    path = f"{URL}{memory.pk}/"
    return [answer.content.decode() for answer in (asked, client.get(path), client.get(f"{path}history/"))]


def test_an_erasure_blanks_the_version_of_the_other_memory(api, owner, agent, reworded):
    first, again, known_at = reworded
    told = api(owner).get("/api/v1/erase/", {"scope": "memory", "id": again.pk}).json()
    assert told["counts"] == {"memories": 1, "wordings": 1}
    _, job = erasure_request(principal_for_person(owner.pk), "memory", again.pk, grace_hours=0)
    run_erasure(job.pk)
    assert list(first.versions.order_by("number").values_list("content", flat=True)) == [ERASED_TEXT, BEES]
    assert not MemoryVersion.objects.filter(content__icontains="euros").exists()
    for client in (api(owner), api(agent)):
        assert not any("euros" in each for each in readings(client, first, known_at))


def test_a_rejection_hides_it_from_agents(api, owner, agent, reworded):
    first, again, known_at = reworded
    assert "euros" in "".join(readings(api(agent), first, known_at)[1:])
    memory_reject(principal_for_person(owner.pk), again.pk, RejectionReason.DONT_KEEP)
    assert not any("euros" in each for each in readings(api(agent), first, known_at))
    assert "euros" in "".join(readings(api(owner), first, known_at)[1:])


def test_the_version_of_a_fact_goes_too(owner, legacy):
    me = principal_for_person(owner.pk)
    first = LegacyFactFactory(user=owner, legacy=legacy, content="Rosa sold the mill.")
    fact_edit(me, first.pk, content="Rosa kept the mill.")
    again = LegacyFactFactory(user=owner, legacy=legacy, content="Rosa sold the mill")
    _, job = erasure_request(me, "fact", str(again.pk), grace_hours=0)
    run_erasure(job.pk)
    assert not FactVersion.objects.filter(content__contains="sold").exists()
