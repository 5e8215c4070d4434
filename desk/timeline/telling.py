"""Descriptions of changes, and current names of their objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Case, CharField, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Cast
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Agent, Legacy
from accounts.principals import Principal, shape_for
from conversations.models import Conversation
from facts.models import LegacyFact
from journal.models import ActorKind, Change, ChangeQuerySet
from memories.models import Memory, Place
from retrieval.prepared import together
from retrieval.search import read_columns
from statements.models import RejectionReason, Suppression
from statements.policy.naming import fact_in_words, in_second_person

from ..legacies.history import what_happened as what_happened_to_fact
from ..memories.history import what_happened as what_happened_to_memory
from ..page import page_address
from ..quotations import name_talk

Key = tuple[str, str]
"""The kind of an object and its id, as the log has them."""

UNTOLD = ("LINK", "MENTION")
"""Events that only accompany another event, which is listed."""


def told_of(changes: ChangeQuerySet) -> ChangeQuerySet:
    """Return changes without those implied by another, such as the sources of a merge."""
    return changes.exclude(event__in=UNTOLD).exclude(Q(event="MERGE") & ~Q(meta__has_key="sources"))


class Named(NamedTuple):
    """The name or wording of an object, and its URL, or ''."""

    text: str
    address: str


_OF_ANY = {
    "ERASE": gettext_lazy("erased it"),
    "PURGE": gettext_lazy("deleted it for good"),
    "OPEN": gettext_lazy("opened it to moderate it"),
    "LAPSE": gettext_lazy("let it lapse, as nobody decided about it"),
}
_OF_KIND = {
    ("place", "ADD"): gettext_lazy("added it"),
    ("place", "UPDATE"): gettext_lazy("changed it"),
    ("place", "DELETE"): gettext_lazy("removed it"),
    ("place", "RESTORE"): gettext_lazy("restored it"),
    ("proposal", "PROPOSE"): gettext_lazy("proposed a change"),
    ("proposal", "APPROVE"): gettext_lazy("agreed to a proposed change"),
    ("proposal", "REJECT"): gettext_lazy("refused a proposed change"),
    ("proposal", "RESTORE"): gettext_lazy("put a proposed change back for review"),
    ("conversation", "DELETE"): gettext_lazy("deleted a conversation"),
    ("message", "WITHHOLD"): gettext_lazy("withheld words of a message"),
    ("message", "GIVE_BACK"): gettext_lazy("gave withheld words of a message back"),
    ("message", "PURGE"): gettext_lazy("deleted withheld words of a message for good"),
    ("conversation", "WITHHOLD"): gettext_lazy("withheld the title of a conversation"),
    ("conversation", "GIVE_BACK"): gettext_lazy("gave the title of a conversation back"),
    ("chunk", "UPDATE"): gettext_lazy("wrote a summary anew"),
    ("agent", "ADD"): gettext_lazy("connected it"),
    ("webhook", "ADD"): gettext_lazy("added a webhook of it"),
    ("webhook", "UPDATE"): gettext_lazy("changed a webhook of it"),
    ("webhook", "DELETE"): gettext_lazy("removed a webhook of it"),
    ("legacy", "ADD"): gettext_lazy("began it"),
    ("legacy", "UPDATE"): gettext_lazy("changed its name or its picture"),
    ("legacy", "DELETE"): gettext_lazy("ended it"),
    ("legacy", "RESTORE"): gettext_lazy("brought it back"),
    ("member", "JOIN"): gettext_lazy("joined it"),
    ("member", "LEAVE"): gettext_lazy("left it"),
    ("member", "ROLE"): gettext_lazy("changed a role in it"),
    ("invitation", "INVITE"): gettext_lazy("invited somebody to it"),
    ("invitation", "DELETE"): gettext_lazy("took an invitation to it back"),
    ("invitation", "DECLINE"): gettext_lazy("declined an invitation"),
    ("invitation", "BLOCK"): gettext_lazy("blocked an invitation"),
    ("invitation_block", "DELETE"): gettext_lazy("let invitations through again"),
    ("preferences", "PREFERENCE"): gettext_lazy("changed the preferences"),
    ("identity", "ADD"): gettext_lazy("linked a chat"),
    ("identity", "UPDATE"): gettext_lazy("renamed how another system calls you"),
    ("identity", "DELETE"): gettext_lazy("unlinked a chat"),
    ("user", "UPDATE"): gettext_lazy("changed the account"),
    ("import", "ADD"): gettext_lazy("brought a history in"),
    ("erasure", "ERASE"): gettext_lazy("asked to erase data"),
    ("erasure", "RESTORE"): gettext_lazy("took back that data is to be erased"),
}


def tell(change: Change) -> str:
    """Describe a change, as the predicate of a sentence whose subject is the author."""
    found = change.actor_kind == ActorKind.JOB and change.conversation_id is not None
    if told := _OF_KIND.get((change.object_type, change.event)):
        return str(told)
    if change.event in _OF_ANY and change.object_type != "erasure":
        return str(_OF_ANY[change.event])
    if change.object_type == "memory":
        worded = change.event in {"UPDATE", "APPROVE"} and change.old_version not in {None, change.new_version}
        return what_happened_to_memory(change, worded=worded)
    if change.object_type == "fact":
        return what_happened_to_fact(change, found=found)
    if change.object_type == "agent":
        return _of_agent(change)
    return change.get_event_display().lower()


def _of_agent(change: Change) -> str:
    if change.event == "KEY":
        return _("revoked a key of it") if "revoked" in change.meta else _("made a key for it")
    if change.event == "GRANT":
        told = {True: _("kept it out"), False: _("let it in again")}
        return told.get(change.meta.get("kept_out")) or _("changed what it may see")
    return change.get_event_display().lower()


def about(change: Change) -> Key:
    """Return the object to name: the legacy of a membership or invitation, the conversation of a message."""
    if change.object_type in {"member", "invitation"} and "legacy" in change.meta:
        return "legacy", str(change.meta["legacy"])
    if change.object_type == "webhook" and "agent" in change.meta:
        return "agent", str(change.meta["agent"])
    if change.object_type == "proposal" and change.meta.get("memory"):
        return "memory", str(change.meta["memory"])
    if change.object_type in {"message", "chunk"} and change.conversation_id:
        return "conversation", str(change.conversation_id)
    return change.object_type, change.object_id


def names_of(principal: Principal, keys: Iterable[Key]) -> dict[Key, Named]:
    """Return the current names of visible objects, in one query per kind and one round trip for all."""
    ids: dict[str, list[str]] = {kind: [] for kind in NAMED}
    for kind, pk in dict.fromkeys(keys):
        if kind in ids:
            ids[kind].append(pk)
    kinds = [kind for kind, found in ids.items() if found]
    found = together(
        *(
            read_columns.steps(shape_for(principal, f"named {kind}", rows), _as_ids(kind, ids[kind]), columns)
            for kind in kinds
            for rows, columns, _route, _say in (NAMED[kind],)
        )
    )
    return {
        (kind, str(pk)): Named(say(*told), page_address(route, pk))
        for kind, rows in zip(kinds, found, strict=True)
        for _rows, _columns, route, say in (NAMED[kind],)
        for pk, *told in rows
    }


def _as_ids(kind: str, ids: Sequence[str]) -> Sequence[str | UUID]:
    # Erased objects have no name in the log.
    return ids if kind == "memory" else [UUID(pk) for pk in ids if pk]


def _of_talk(title: str, channel: str, begun: datetime) -> str:
    return name_talk(title, channel, begun) or _("A conversation")


def _statements(model: type[Memory | LegacyFact]) -> _Rows:
    """Return the visible statements, with their content as ``told``: '' for those that are not to be kept."""
    suppressions = Suppression.objects.filter(user_id=OuterRef("user_id"), object_id=Cast(OuterRef("pk"), CharField()))
    not_kept = Exists(suppressions) & Q(state__in=["archived", "rejected"])
    not_kept &= ~Q(state_reason=RejectionReason.NOT_TRUE.label)
    told = Case(When(not_kept, then=Value("")), default=F("content"))
    return lambda principal: model.objects.visible_to(principal).annotate(told=told)


def _of_memory(text: str) -> str:
    return in_second_person(text) if text else _("a memory")


def _of_fact(text: str) -> str:
    return fact_in_words(text) if text else _("a fact")


_Rows = Callable[[Principal], QuerySet[Any]]
_TALK = ("title", "channel", "created_at")
NAMED: Mapping[str, tuple[_Rows, tuple[str, ...], str, Callable[..., str]]] = {
    "memory": (_statements(Memory), ("told",), "memory-page", _of_memory),
    "fact": (_statements(LegacyFact), ("told",), "fact-page", _of_fact),
    "place": (Place.objects.visible_to, ("name",), "place-page", str),
    "conversation": (
        Conversation.objects.visible_to,
        ("title", "channel", "created_at"),
        "conversation-page",
        _of_talk,
    ),
    "legacy": (Legacy.objects.visible_to, ("name",), "legacy-page", str),
    "agent": (Agent.objects.visible_to, ("name",), "agent-page", str),
}
"""The kinds of things that have a name: their rows, its columns, their page, and how the name is shown."""
