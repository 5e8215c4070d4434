"""A person's no in talk, heard when it is saved: what it means is withheld in the same transaction, whoever asked.

Most messages have no word of refusing, and cost nothing. Of the others what they mean is worked out before any lock is
taken, by patterns and a parse, without a model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from accounts.principals import Principal
from journal.actions import LedgerWrite
from language.reading.refusals import Turn, hear, may_refuse

from .. import policy
from ..models import Conversation, Message, Withheld
from ..passages import MARK
from .withheld_rows import Cause
from .withholding import words_withhold

LIVE = timedelta(minutes=5)
"""A message that was said longer before it came in is a record of what was said, and consents to nothing."""
MOST_BEFORE = 100
"""Messages, the latest, in which that is looked for which a refusal means."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a message asks not to be kept.

    ``passages`` are sentences with the ids of their messages, the first of which was said at ``since``. ``named``: what
    it names them by, for what is known from elsewhere; not where it came in with an import. ``denied``: whether that
    is a denial, where it is a clause. ``held``: messages about which the person was being asked.
    """

    message_id: UUID
    conversation_id: UUID
    legacy_id: UUID | None
    passages: tuple[tuple[UUID, str], ...]
    since: datetime
    named: frozenset[str] = frozenset()
    whole: bool = False
    denied: bool | None = None
    held: frozenset[UUID] = frozenset()

    @property
    def cause(self) -> Cause:
        """Why words are withheld for it."""
        return Cause(Withheld.Cause.MESSAGE, str(self.message_id))

    @property
    def said(self) -> list[str]:
        """The sentences."""
        return [quote for _, quote in self.passages]


Follow = Callable[[LedgerWrite, UUID, Heard], None]
_follows: list[Follow] = []


def follows_refusals(follow: Follow) -> None:
    """Have a room told, inside the transaction, what a person asks not to be kept, once the words are withheld."""
    _follows.append(follow)


def refusals_in(
    principal: Principal, conversation_id: UUID, new: Sequence[Message], *, brought: bool = False
) -> list[Heard]:
    """What messages that are about to be appended ask not to be kept. Call it outside any transaction.

    Heard is the person, and the agent that talks with them there. ``brought``: they come in with an import.
    """
    if not any(row.role == Message.Role.USER and may_refuse(row.content) for row in new):
        return []
    conversation = Conversation.objects.visible_to(principal).filter(pk=conversation_id).first()
    if conversation is None or not (policy.may_move(principal, conversation) or principal.may_decide):
        return []
    stored = Message.objects.filter(conversation=conversation, role__in=["user", "assistant"])
    rows = [*reversed(stored.without_vectors().order_by("-index")[:MOST_BEFORE]), *new]
    now = new[0].created_at
    turns = [Turn(row.role, row.content, _is_held(row, now)) for row in rows]
    found = []
    for position, row in enumerate(rows[-len(new) :], start=len(rows) - len(new)):
        refusal = hear(turns, position) if row.role == Message.Role.USER else None
        if refusal is None or not (refusal.passages or refusal.named):
            continue
        meant = [(rows[place], quote) for place, quote in refusal.passages]
        is_live = not brought and abs(row.created_at - row.at) < LIVE
        found.append(
            Heard(
                row.pk,
                conversation_id,
                conversation.legacy_id,
                tuple((each.pk, quote) for each, quote in meant),
                min((each.created_at for each, _ in meant), default=now),
                refusal.named if is_live else frozenset(),
                refusal.whole,
                refusal.denied,
                frozenset(each.pk for each, _ in meant if _is_held(each, now)),
            )
        )
    return found


def _is_held(row: Message, now: datetime) -> bool:
    return row.held_until is not None and row.held_until > now


def refusals_follow(write: LedgerWrite, user_id: UUID, heard: Iterable[Heard]) -> None:
    """Withhold what was asked not to be kept, inside the transaction that stores the messages which ask for it.

    A message about which the person was being asked is declined.
    """
    for each in heard:
        said = [(pk, "" if pk in each.held else quote) for pk, quote in each.passages]
        words_withhold(write, user_id, each.cause, said)
        if each.held:
            Message.objects.filter(pk__in=each.held).update(declined=True, held_until=None, reading_due=None)
        for follow in _follows:
            follow(write, user_id, each)


def refusals_heard(messages: Collection[Message]) -> list[dict[str, object]]:
    """Which of stored messages asked that something be not kept: their indices, and of what words were withheld."""
    said = (row for row in messages if row.role == Message.Role.USER)
    asked = {str(row.pk): row.index for row in said if MARK in row.content or may_refuse(row.content)}
    if not asked:
        return []
    rows = Withheld.objects.because_of(Withheld.Cause.MESSAGE, asked).passages().filter(message__role="user")
    withheld: dict[str, set[int]] = {}
    for cause_id, index in rows.values_list("cause_id", "message__index"):
        withheld.setdefault(cause_id, set()).add(index)
    return [{"index": asked[pk], "withheld": sorted(indices)} for pk, indices in withheld.items()]
