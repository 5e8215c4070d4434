"""What tests of extraction have in common: calls as a model makes them, and what came of them."""

from journal.models import OperationEvent
from memories.models import Memory, Proposal

TEA = "I drink green tea every morning."
QUOTE = "drink green tea"


def evidence(index=0, quote=QUOTE):
    return {"index": index, "quote": quote}


def add(content="The user drinks green tea.", category="preference", index=0, quote=QUOTE, **more):
    """A call of add_to_memory."""
    return "add_to_memory", {"content": content, "category": category, "evidence": evidence(index, quote), **more}


def update(memory, content, index=0, quote=QUOTE, **more):
    """A call of update_memory."""
    return "update_memory", {
        "memory_id": getattr(memory, "pk", memory),
        "content": content,
        "evidence": evidence(index, quote),
        **more,
    }


def delete(memory, index=0, quote=QUOTE, **more):
    """A call of delete_memory."""
    return "delete_memory", {"memory_id": getattr(memory, "pk", memory), "evidence": evidence(index, quote), **more}


def contents(state="active", **filters):
    """What is remembered, in the order in which it was."""
    found = Memory.objects.filter(state=state, **filters).order_by("created_at")
    return list(found.values_list("content", flat=True))


def operations(status=None):
    """What the log tells of extraction, but for beginning and end."""
    rows = OperationEvent.objects.filter(node="extract").exclude(op__startswith="update_")
    rows = rows.filter(status=status) if status else rows
    return list(rows.order_by("at").values_list("op", flat=True))


def proposals():
    """What waits for the person."""
    return list(Proposal.objects.filter(state="waiting").order_by("created_at").values_list("kind", flat=True))
