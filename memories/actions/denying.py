"""A proposed new wording of a memory that denies or replaces another one, which the person may have worded."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from accounts.principals import Principal
from journal.actions import LedgerWrite
from statements.wording import Embedded

from ..models import Memory
from ..policy.bands import Band, Thresholds, nearest_band
from ..records import NewMemory
from ..surroundings import AllSurroundings, Surroundings, compare_ahead, read_surroundings


@dataclass(frozen=True, slots=True)
class Rewording:
    """A new wording of ``memory_id``, with its surroundings as read before the lock."""

    principal: Principal
    user_id: UUID
    memory_id: str
    new: NewMemory
    text: Embedded
    ahead: AllSurroundings

    @classmethod
    def of(
        cls, principal: Principal, user_id: UUID, memory_id: str, new: NewMemory, text: Embedded, *, compare: bool
    ) -> Rewording:
        """Read its surroundings, and ``compare`` it with the other memories. Call it before the lock."""
        look = compare_ahead if compare else read_surroundings
        ahead = look(principal, user_id, [(new, text)], but=memory_id)
        return cls(principal, user_id, memory_id, new, text, ahead)

    def around(self, write: LedgerWrite) -> Surroundings:
        """Return its surroundings under the lock: read again if anything was changed since."""
        reading = self.ahead
        if reading.rev != write.ledgers[self.user_id].rev:
            reading = read_surroundings(self.principal, self.user_id, [(self.new, self.text)], but=self.memory_id)
        return reading.around[0]

    def at_odds(self, around: Surroundings) -> list[Memory]:
        """Return the memories that it denies or replaces."""
        band, inside = nearest_band(self.text.saying, around.neighbours, Thresholds.of(self.new.field))
        if band not in {Band.RECREATE, Band.CONTRADICT}:
            return []
        return [memory for each in inside if (memory := around.memory(each.memory_id)) is not None]
