"""The net difference: current memories that are missing or outdated in a conversation's pinned block.

A pinned block keeps its bytes, for the model's prompt cache. So each prompt has, below the cache boundary, the lines
that override it. Block and difference together are what is active and visible now. Changes that lines can't express (a
memory left the block or changed its category) cause a new pin.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.principals import Principal
from conversations.models import Conversation
from language.fencing import DIFFERENCE_FENCE, fenced
from language.tokens import count_tokens

from .block import Block, memory_block
from .cache import CachedValue, Family, read_through
from .lines import changed_line, changed_place_line, new_line, new_place_line
from .models import Memory, Place

NOTE = "True now, and not yet in the notes above. Where the two differ, these lines count. They are notes, too."
FORMAT = 3
"""Another number for another form of the lines."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The lines that override a pinned block, and the ids of their memories in order.

    Not ``complete`` if lines can't express it: the block shows a wording whose successor is not valid yet.
    """

    lines: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    complete: bool = True

    @property
    def text(self) -> str:
        """The fenced lines; '' without any."""
        return fenced(DIFFERENCE_FENCE, [NOTE, *self.lines]) if self.lines else ""

    @property
    def suffices(self) -> bool:
        """Whether the block may stay pinned: the difference is complete and short enough."""
        most_lines, most_tokens = settings.DIFFERENCE_MAX_LINES, settings.DIFFERENCE_MAX_TOKENS
        if not self.complete or len(self.lines) > most_lines:
            return False
        return not self.lines or count_tokens(self.text) <= most_tokens


@dataclass(frozen=True, slots=True)
class PinnedBlock:
    """The pinned block of a conversation, as one principal may read it, and its difference.

    ``at`` and ``rev`` are the time and the person's revision of the pin. ``is_new``: it was pinned by this call.
    """

    block: Block
    difference: Difference
    at: datetime
    rev: int
    is_new: bool


def pinned_block(principal: Principal, conversation: Conversation, *, moves: bool) -> PinnedBlock:
    """Return the pinned block and its difference, or the current block if it must be pinned again.

    That is so before the first turn or message, after an idle hour, if the pinned text has changed for a caller who
    ``moves`` the pin, and if the difference is incomplete or too long. Raises NotFound for a principal that acts for
    nobody, NotAllowed without the scope read.
    """
    now = timezone.now()
    at, rev = conversation.block_at, conversation.block_rev
    if at is None or rev is None or not conversation.is_pinned(now):
        return present_block(principal, now)
    block = memory_block(principal, as_of_rev=rev)
    if moves and not reads_as_pinned(principal, conversation.block_digest, block.text):
        return present_block(principal, now)
    difference = memory_difference(principal, rev)
    if not difference.suffices:
        return present_block(principal, now)
    return PinnedBlock(block, difference, at, rev, is_new=False)


def present_block(principal: Principal, now: datetime) -> PinnedBlock:
    """Return the current block, with an empty difference."""
    return PinnedBlock(memory_block(principal), Difference(), now, principal.rev, is_new=True)


def pin_digest(principal: Principal, text: str) -> str:
    """Return what a conversation stores of its pinned text: the kind of reader, and a digest."""
    return f"{principal.kind}:{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def reads_as_pinned(principal: Principal, digest: str, text: str) -> bool:
    """Whether a text matches its digest.

    True if the digest is of another kind of reader, who may see more or less than the principal.
    """
    return not digest.startswith(f"{principal.kind}:") or digest == pin_digest(principal, text)


def memory_difference(principal: Principal, since: int) -> Difference:
    """Return the principal's memories and places that are missing or different in a block of revision ``since``.

    Cached. At most two statements; none if the revision is unchanged.
    """
    if principal.rev <= since or not principal.has_memory:
        return Difference()
    of = ("difference", FORMAT, since)
    lines, ids, complete = read_through(principal, Family.CONTEXT, lambda: _read(principal, since), of=of)
    return Difference(tuple(lines), tuple(ids), complete)


def _read(principal: Principal, since: int) -> CachedValue[tuple[Sequence[str], Sequence[str], bool]]:
    now = timezone.now()
    rows = Memory.objects.visible_to(principal).in_use(principal).filter(in_block=True).changed_since(since)
    rows = rows.unexpired(now).exclude(valid_to__lte=now)
    found = rows.order_by("category", "created_at", "id").values_list(
        *("pk", "category", "subject", "content", "active_rev"),
        Coalesce("wording_now__said_at", "wording_now__recorded_from"),
        *(F("wording__content"), F("wording__valid_from")),
        *("valid_from", "valid_to", "expires_at"),
    )
    lines, ids, moments, complete = [], [], [], True
    for pk, category, subject, content, active_rev, worded_at, was, was_from, *times in found:
        moments += [each for each in (was_from, *times) if each and each > now]
        in_block = active_rev <= since and (was_from is None or was_from <= now)
        if times[0] is not None and times[0] > now:
            complete = complete and not in_block
            continue
        if in_block and was == content:
            continue
        if not in_block:
            lines.append(new_line(category, pk, worded_at, subject, content))
        else:
            lines.append(changed_line(pk, worded_at, subject, content))
        ids.append(pk)
    lines += _places(principal, since)
    return CachedValue((lines, ids, complete), min(moments, default=None))


def _places(principal: Principal, since: int) -> list[str]:
    places = Place.objects.visible_to(principal).present().changed_since(since).order_by("added_at", "id")
    columns = ("name", "notes", "active_rev", F("wording__name"), F("wording__notes"))
    lines = []
    for name, notes, active_rev, was, noted in places.values_list(*columns):
        if active_rev > since:
            lines.append(new_place_line(name, notes))
        elif (was, noted) != (name, notes):
            lines.append(changed_place_line(was, name, notes))
    return lines
