"""What has to hold of a person's memories whatever was done to them."""

from itertools import pairwise

from django.db.models import Count, Max, Min

from accounts.categories import load
from journal.models import Change, Ledger
from memories.models import Memory, MemoryVersion, Proposal

from .rows import counted, recount

MIRRORED = ("kind", "field", "content", "valid_from", "valid_to", "written_by", "embedding_model", "search_config")
IN_BLOCK = {name for name, category in load().by_name.items() if category.context == "all"}


def now(memory):
    """A memory as it is stored now."""
    return Memory.objects.get(pk=getattr(memory, "pk", memory))


def changes(owner, memory=None):
    """The events in a person's log, or those of one object, in order."""
    rows = Change.objects.of_owner(owner.pk)
    if memory is not None:
        rows = rows.filter(object_id=str(memory.pk))
    return list(rows.values_list("event", flat=True))


def versions(memory):
    return list(MemoryVersion.objects.filter(memory_id=memory.pk).order_by("number"))


def check(owner):
    """Counts equal a recount; revisions and versions have no holes; a memory says what its current version says."""
    assert counted(owner) == recount(owner)
    check_log(owner)
    for memory in Memory.objects.filter(user=owner):
        check_memory(memory)
    proposed = set(Memory.objects.filter(user=owner, state="proposed").values_list("pk", flat=True))
    creates = Proposal.objects.filter(user=owner, kind="create", state="waiting")
    assert set(creates.values_list("memory_id", flat=True)) == proposed
    assert not Proposal.objects.filter(user=owner, state="lapsed").exclude(values={}).exists()


def check_log(owner):
    rows = Change.objects.filter(ledger_id=owner.pk).aggregate(count=Count("id"), first=Min("rev"), last=Max("rev"))
    last = rows["last"] or 0
    assert rows["count"] == last == Ledger.objects.get(pk=owner.pk).rev
    assert rows["first"] in (None, 1)


def check_memory(memory):
    history = versions(memory)
    assert [version.number for version in history] == list(range(1, memory.version + 1))
    for one, following in pairwise(history):
        assert (one.recorded_to, one.recorded_to_rev) == (following.recorded_from, following.recorded_from_rev)
    current = history[-1]
    assert (current.recorded_to, current.recorded_to_rev) == (None, None)
    assert {name: getattr(memory, name) for name in MIRRORED} == {name: getattr(current, name) for name in MIRRORED}
    assert (memory.embedding is None) == (current.embedding is None)
    assert memory.in_block == (memory.kind == "semantic" and memory.category in IN_BLOCK)
    if memory.state == "active":
        assert memory.active_rev <= Ledger.objects.get(pk=memory.user_id).rev
