"""The history of a fact."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.principals import Principal
from facts.models import FactLink, FactVersion, LegacyFact
from journal.models import ActorKind, Change

from ..cards import diff_of_facts
from ..diff import DiffPiece
from ..history import Entry, make_history, who_did
from ..labels import label

_SAID = {
    "UPDATE": gettext_noop("changed it"),
    "APPROVE": gettext_noop("approved it"),
    "REJECT": gettext_noop("rejected it"),
    "DELETE": gettext_noop("put it away"),
    "SHARE": gettext_noop("shared it with the other members"),
    "UNSHARE": gettext_noop("stopped sharing it"),
    "HIDE": gettext_noop("hid it from everybody but you"),
    "QUARANTINE": gettext_noop("held it back"),
    "OPEN": gettext_noop("opened it"),
}


def make_fact_history(principal: Principal, fact: LegacyFact) -> list[Entry]:
    """Return the latest entries of the person's fact, newest first; none for another member's."""
    if fact.user_id != principal.user_id:
        return []

    def tell(
        change: Change, agents: Mapping[str, str], old: FactVersion | None, new: FactVersion | None
    ) -> tuple[str, str]:
        what = what_happened(change, found=fact.source_index is not None)
        if change.event == "UPDATE" and new and old and new.written_by and new.content != old.content:
            what = _("restored the wording of %(written_by)s") % {"written_by": new.written_by}
        return who_did(change, agents, fact.user_id), what

    return list(make_history(fact, "fact", FactVersion.objects.filter(fact=fact), tell, _compare))


def _compare(old: FactVersion, new: FactVersion) -> tuple[list[DiffPiece], str]:
    moved = f"{_category(old)} → {_category(new)}" if old.category != new.category else ""
    return diff_of_facts(old.content, new.content), moved


def _category(version: FactVersion) -> str:
    return label(LegacyFact.Category(version.category).label)


def what_happened(change: Change, *, found: bool) -> str:
    """Describe a change of a fact; ``found``: it was extracted."""
    if change.event == "ADD":
        return _("found it in what you said") if found else _("added it")
    if change.event == "LINK":
        return _linked(change)
    if change.event == "RESTORE":
        return _restored(change)
    said = _SAID.get(change.event)
    return _(said) if said else change.get_event_display().lower()


def _linked(change: Change) -> str:
    if "evidence" in change.meta:
        return _("found it said again")
    contradicts = change.meta.get("kind") == FactLink.Kind.CONTRADICTS
    return _("saw that another fact contradicts it") if contradicts else _("saw that another fact says the same")


def _restored(change: Change) -> str:
    if change.actor_kind == ActorKind.STAFF:
        return _("made it visible again")
    if change.meta.get("undo"):
        return _("undid the last decision")
    return _("put it back for review") if change.meta.get("waits") else _("restored it")
