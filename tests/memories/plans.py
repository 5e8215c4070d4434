"""A strategy whose answers a test writes, and what a person's memories come to, to compare before and after."""

from language.base import ModelUnavailable, Selected
from memories.models import Memory, MemoryEvidence, Relation
from memories.strategies import MergeGroup

from .rows import counted

ANOTHER_MOMENT = {"updated_at", "active_rev"}
"""What being archived and restored changes of a memory."""


class Scripted:
    """Says what ``say(content, *sources)`` told it to of the batches that hold the sources.

    ``slow`` makes it the work of a job; ``failures`` is how often it is away first. ``shown`` keeps the batches.
    """

    name = "scripted"

    def __init__(self):
        self.groups, self.shown, self.slow, self.failures, self.meanwhile = [], [], False, 0, None

    def written_by(self):
        return "scripted model"

    def is_quick(self):
        return not self.slow

    def say(self, content, *sources, category="context", subject="", importance=2, topics=()):
        ids = tuple(getattr(source, "pk", source) for source in sources)
        self.groups.append(MergeGroup(content, category, subject, importance, tuple(topics), ids))

    def select(self, question, passages, most):
        return Selected(tuple(passage.id for passage in passages[:most]))

    def condense(self, memories):
        self.shown.append([memory.pk for memory in memories])
        if self.meanwhile is not None:
            self.meanwhile()
        if self.failures:
            self.failures -= 1
            raise ModelUnavailable("away")
        known = set(self.shown[-1])
        return [group for group in self.groups if known & set(group.sources)]


def standing(person):
    """The active memories of a person with all that belongs to each, and what the ledger counts of them."""
    columns = [field.attname for field in Memory._meta.concrete_fields if field.attname not in ANOTHER_MOMENT]
    rows = Memory.objects.filter(user=person, state="active").order_by("pk")
    memories = [{name: value for name, value in row.items() if name not in {"search"}} for row in rows.values(*columns)]
    for row in memories:
        row["embedding"] = None if row["embedding"] is None else list(row["embedding"])
    ids = [row["id"] for row in memories]
    evidence = MemoryEvidence.objects.filter(version__memory__in=ids).order_by("pk")
    relations = Relation.objects.filter(from_memory__in=ids, to_memory__in=ids).order_by("pk")
    return (
        memories,
        list(evidence.values_list("version__memory_id", "version__number", "message_id", "quote")),
        list(relations.values_list("from_memory_id", "to_memory_id", "type", "strength")),
        counted(person),
    )
