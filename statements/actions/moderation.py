"""What staff do to facts and memories: open, quarantine, release, refuse, and revert a refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic

from django.utils.translation import gettext as _

from accounts.policy import clean_reason, must_be_staff
from accounts.principals import Principal
from accounts.queries import principal_for_person
from journal.exceptions import Conflict
from journal.models import ActorKind
from journal.models import Change as LoggedChange
from journal.verdicts import compares_unlocked

from .single import Change, StatementWrite, statement_write
from .suppressions import reason_to_review, unsuppress


@dataclass(frozen=True, slots=True)
class Moderation(Generic[Change]):
    """The actions of staff on facts or on memories.

    Each takes the id of a statement and a reason, which is logged and which its person can read, and returns the
    statement. Raises NotAllowed (403) for anybody but staff, Refused (400) without a reason, NotFound (404), Conflict
    (409 ``wrong_state``).

    ``with_evidence`` reads what an opened text is shown with. ``hold_back`` quarantines a locked statement for a
    reason, ``end_quarantine`` makes it count or wait (for the given reason), ``reject`` rejects it for a reason.
    ``must_fit`` raises Conflict (409 ``similar_exists``) if its person has the same words again.
    """

    of: type[Change]
    with_evidence: Callable[[Any], None]
    hold_back: Callable[[Change, str], None]
    end_quarantine: Callable[[Change, str], None]
    reject: Callable[[Change, str], None]
    must_fit: Callable[[Principal, Any], None]

    @contextmanager
    def write(self, principal: Principal, pk: Any, reason: str, *states: str) -> Iterator[Change]:
        """Open the transaction of a change by staff (see ``statement_write``), and log the reason with it."""
        must_be_staff(principal)
        because = clean_reason(reason)
        with statement_write(self.of, principal, pk, *states) as change:
            change.meta = {"reason": because}
            yield change

    def open(self, principal: Principal, pk: Any, reason: str) -> Any:
        """Return a statement with its evidence. The text is not logged."""
        with self.write(principal, pk, reason) as change:
            self.with_evidence(change.row)
            change.log("OPEN")
        return change.row

    def quarantine(self, principal: Principal, pk: Any, reason: str) -> Any:
        """Keep a statement out of prompts, recall and others' view, until it is released, refused or reworded."""
        with self.write(principal, pk, reason, "active", "proposed") as change:
            self.hold_back(change, change.meta["reason"])
        return change.row

    @compares_unlocked
    def release(self, principal: Principal, pk: Any, reason: str) -> Any:
        """Make a quarantined statement active and unreviewed, or proposed if it has to wait for its person's review.

        It has to wait as when it was written, or if it may mean something that the person rejected.
        """
        with self.write(principal, pk, reason, "quarantined") as change:
            self.end_quarantine(change, reason_to_review(change))
        return change.row

    def refuse(self, principal: Principal, pk: Any, reason: str) -> Any:
        """Reject a quarantined statement, and suppress its words. Restored by its person, it is quarantined again."""
        with self.write(principal, pk, reason, "quarantined") as change:
            self.reject(change, change.meta["reason"])
        return change.row

    def hold_again(self, principal: Principal, pk: Any, reason: str) -> Any:
        """Revert a refusal by staff: quarantine the statement again, and remove the suppression of its words.

        Raises Conflict (409) also if its person rejected it, or has the same words again (``similar_exists``).
        """
        with self.write(principal, pk, reason, "rejected") as change:
            _must_be_by_staff(change)
            self.must_fit(principal_for_person(change.row.user_id), change.row)
            unsuppress(change)
            self.hold_back(change, change.meta["reason"])
        return change.row


def _must_be_by_staff(change: StatementWrite[Any]) -> None:
    """Raise Conflict (409 ``wrong_state``) unless the last rejection of a statement was a moderator's."""
    log = LoggedChange.objects.of_owner(change.row.user_id).filter(
        object_type=change.kind.name, object_id=str(change.row.pk), event="REJECT"
    )
    if log.order_by("-rev").values_list("actor_kind", flat=True).first() != ActorKind.STAFF:
        raise Conflict(_("Its person rejected it, not staff."), code="wrong_state")
