"""Undo of changes to facts, in bulk, with the same checks as other changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.models import Member
from accounts.policy import must_remember
from accounts.principals import Principal
from journal.actions import LedgerWrite
from journal.steps import TOUCHED, UndoTarget
from language.tokens import count_tokens
from retrieval.text import prepare
from statements.actions import GONE, archived_columns
from statements.actions.many import LogEntry, Move
from statements.actions.undoing import (
    StatementsUndo,
    rejected_again,
    store_versions,
    wordings_before,
)
from statements.policy import fingerprint, fingerprints

from ..models import FACT, FactLink, LegacyFact
from ..policy import State, Visibility
from .bulk import change_many, compared


def facts_undo(write: LedgerWrite, principal: Principal, wanted: Sequence[UndoTarget]) -> Mapping[str, str]:
    """Restore previous states and wordings of facts. Returns the codes of those that were not restored, by id."""
    user_id = must_remember(principal)
    written = [UUID(each.object_id) for each in wanted if each.before.get("created")]
    rows = LegacyFact.objects.to_undo(principal, written).filter(pk__in=[UUID(each.object_id) for each in wanted])
    rows = rows.filter(legacy_id__in=write.ledgers).defer("search", "embedding")
    earlier = wordings_before(FACT, wanted, "content", "category", "written_by")
    return _FactUndo(write, principal, user_id, wanted, earlier).run(rows)


def legacies_of_facts(ids: Sequence[str]) -> Iterable[UUID]:
    """Return the ids of the legacies of facts."""
    rows = LegacyFact.objects.filter(pk__in=[UUID(each) for each in ids])
    return rows.order_by().values_list("legacy_id", flat=True).distinct()


class _FactUndo(StatementsUndo[LegacyFact]):
    kind = FACT

    def store(self, moves: Sequence[Move[LegacyFact]]) -> None:
        """Store the changes, and delete the links of reworded facts."""
        change_many(self.write, self.user_id, moves)
        reworded = [move for move in moves if "version" in move.target]
        if reworded:
            ids = [move.row.pk for move in reworded if "content" in move.target]
            FactLink.objects.filter(Q(from_fact__in=ids) | Q(to_fact__in=ids)).delete()
            store_versions(FACT, self.write, reworded, self.now)

    def move(self, fact: LegacyFact, each: UndoTarget) -> Move[LegacyFact] | None:
        """Return the change that restores a fact, or None if nothing changes."""
        before = {name: value for name, value in each.before.items() if name not in TOUCHED}
        suppressed = bool(each.before.get("suppressions"))
        if before.pop("created", False):
            if fact.state in GONE and not suppressed:
                return None
            return Move(
                fact,
                archived_columns(State.ARCHIVED, self.now, fact.state_reason),
                [LogEntry("DELETE", {"undo": True})],
            )
        number = before.pop("version", fact.version)
        target: dict[str, Any] = dict(before)
        logged: list[LogEntry] = []
        old = None
        if number != fact.version:
            self.reword(fact, target)
            old = fact.version
            logged.append(LogEntry("UPDATE", {"reverted_to": number, "undo": True}, old))
        state = target.get("state", fact.state)
        if state in GONE:
            target |= archived_columns(state, self.now, target.get("state_reason", fact.state_reason))
        elif fact.state in GONE:
            target |= {"deleted_at": None, "purge_at": None, **compared(self.now)}
        if state in GONE and state != fact.state:
            logged.append(LogEntry("REJECT" if state == State.REJECTED else "DELETE", {"undo": True}, old))
        elif {"state", "reviewed_at"} & target.keys():
            logged.append(LogEntry("RESTORE", {"undo": True}, old))
        elif target.get("visibility", fact.visibility) != fact.visibility:
            event = "SHARE" if target["visibility"] == Visibility.SHARED else "UNSHARE"
            logged.append(LogEntry(event, {"undo": True}, old))
        if target.get("visibility", fact.visibility) != fact.visibility:
            target |= compared(self.now)
        if not logged and (target or suppressed):
            logged.append(LogEntry("RESTORE", {"undo": True}, old))
        return Move(fact, target, logged) if logged else None

    def reword(self, fact: LegacyFact, target: dict[str, Any]) -> None:
        """Add the columns of an earlier version's wording and category, as the next version."""
        version = self.earlier[str(fact.pk)]
        target["version"], target["category"] = fact.version + 1, version.category
        if version.content == fact.content:
            return
        prepared = prepare(version.content, self.principal.language)
        target |= {
            "content": version.content,
            "written_by": version.written_by,
            "fingerprint": target.get("fingerprint", fingerprint(self.user_id, version.content)),
            "search_text": prepared.text,
            "search_config": prepared.config,
            "search_length": prepared.length,
            "tokens": count_tokens(version.content),
            # The fact is embedded and compared in the background.
            "embedding": None,
            "embedding_model": "",
            **compared(self.now),
        }

    def that_fit(self, moves: Sequence[Move[LegacyFact]]) -> list[Move[LegacyFact]]:
        """Return the changes that conflict with no fact of the same words, no membership and no rejection."""
        back = [move for move in moves if "content" in move.target or (move.row.state in GONE and _stays(move))]
        prints = {move.row.pk: fingerprints(self.user_id, move.value("content")) for move in back}
        every = {each for values in prints.values() for each in values}
        leaving = [move.row.pk for move in moves]
        twins = LegacyFact.objects.mine(self.principal).filter(fingerprint__in=every).exclude(state__in=GONE)
        said = set(twins.exclude(pk__in=leaving).values_list("legacy_id", "fingerprint")) if back else set()
        shares = any(move.value("visibility") == Visibility.SHARED for move in moves)
        kept = set(Member.objects.filter(user_id=self.user_id).values_list("legacy_id", flat=True)) if shares else set()
        rejected = rejected_again(FACT, self.principal, self.user_id, moves, self.earlier)
        fitting = []
        for move in moves:
            own = {(move.row.legacy_id, each) for each in prints.get(move.row.pk, [])}
            shared = move.value("visibility") == Visibility.SHARED != move.row.visibility
            if move.row.pk in rejected:
                self.left[str(move.row.pk)] = rejected[move.row.pk]
            elif own & said:
                self.left[str(move.row.pk)] = "similar_exists"
            elif shared and move.row.legacy_id not in kept:
                self.left[str(move.row.pk)] = "not_a_member"
            else:
                said |= own
                fitting.append(move)
        return fitting


def _stays(move: Move[LegacyFact]) -> bool:
    return move.state not in GONE
