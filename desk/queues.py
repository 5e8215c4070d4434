"""The review queue: what waits for the person, in the order in which it came, one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Count, Q

from accounts.principals import Principal
from facts.models import LegacyFact
from facts.querysets import WAITING, FactQuerySet

from .views import View

END = "end"


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the queue one is: the fact shown, how many come before it, all that wait, and its neighbours.

    Without a ``fact_id`` the queue is empty, or one has come to its end.
    """

    fact_id: UUID | None
    before: int
    total: int
    earlier: UUID | None = None
    later: UUID | None = None


@dataclass(frozen=True, slots=True)
class Queue:
    """What an address asks the queue for: a legacy, a category, and the fact to begin with, or the queue's end."""

    legacy: str = ""
    category: str = ""
    fact: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Queue:
        """Read the query of an address; what means nothing is left out."""
        view, fact = View.of(query), query.get("fact", "")
        try:
            fact = fact if fact == END else str(UUID(fact))
        except ValueError:
            fact = ""
        return cls(view.legacy, view.category, fact)

    @property
    def query(self) -> str:
        """The queue as the query of an address, with its question mark; empty for the whole queue from its start."""
        values = {"legacy": self.legacy, "category": self.category, "fact": self.fact}
        written = urlencode({name: value for name, value in values.items() if value})
        return f"?{written}" if written else ""

    @property
    def filters(self) -> str:
        """What narrows the queue, wherever in it one is."""
        return replace(self, fact="").query

    def at(self, fact: UUID | str | None) -> Queue:
        """The same queue from another fact on; None is its end."""
        return replace(self, fact=END if fact is None else str(fact))

    def rows(self, principal: Principal) -> FactQuerySet:
        """What waits for the person, in its order."""
        view = View(legacy=self.legacy, category=self.category)
        waiting = LegacyFact.objects.mine(principal).filter(WAITING)
        return view.narrow(waiting).order_by("extracted_at", "id")

    def place(self, principal: Principal) -> Place:
        """Where the address leads: to its fact, or to the next that waits when that one waits no more."""
        rows = self.rows(principal)
        if self.fact == END:
            total = rows.count()
            return Place(None, total, total, earlier=rows.reverse().values_list("pk", flat=True).first())
        at = None
        if self.fact:
            at = LegacyFact.objects.mine(principal).filter(pk=self.fact).values_list("extracted_at", "pk").first()
        if at is None:
            total = rows.count()
            shown = list(rows.values_list("pk", flat=True)[:2])
            return Place(shown[0] if shown else None, 0, total, later=shown[1] if len(shown) > 1 else None)
        ahead = Q(extracted_at__lt=at[0]) | Q(extracted_at=at[0], pk__lt=at[1])
        counts = rows.order_by().aggregate(total=Count("pk"), before=Count("pk", filter=ahead))
        shown = list(rows.exclude(ahead).values_list("pk", flat=True)[:2])
        earlier = rows.filter(ahead).reverse().values_list("pk", flat=True).first()
        first = shown[0] if shown else None
        return Place(first, counts["before"], counts["total"], earlier, shown[1] if len(shown) > 1 else None)
