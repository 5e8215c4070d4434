"""Who may read which facts."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import Exists, F, Q
from django.db.models.functions import Coalesce

from accounts.models import Member
from accounts.policy import may_see_sources
from statements.querysets import StatementQuerySet

if TYPE_CHECKING:
    from accounts.principals import Principal

    from .models import LegacyFact  # noqa: F401 - named in the generic base


GONE = Q(state__in=["archived", "rejected"])
WAITING = Q(state__in=["proposed", "quarantined"]) | Q(state="active", reviewed_at__isnull=True)


def _version_at(as_of: datetime, column: str) -> models.Subquery:
    """A column of the version that the fact of the outer query had at a moment."""
    versions = apps.get_model("facts", "FactVersion").objects.filter(
        fact=models.OuterRef("pk"), recorded_from__lte=as_of
    )
    return models.Subquery(versions.order_by("-number").values(column)[:1])


def _in_force(principal: Principal, moment: datetime) -> Q:
    """Whether a fact was in force for the person at a moment: their own once active, another's once shared as well."""
    return Q(active_since__lte=moment) & (Q(user_id=principal.user_id) | Q(shared_since__lte=moment))


class FactQuerySet(StatementQuerySet["LegacyFact"]):
    """Facts of the person, and what other members of the legacy share."""

    def visible_to(self, principal: Principal) -> FactQuerySet:
        """All for staff. For a person: their own in every state, and what others share of legacies they are in.

        An agent sees facts only when its sources include them, and what is held back, or was when it was removed, only
        when it may decide about it; likewise what is proposed, and what a person who reviews before has not reviewed.
        Of other members' facts it sees only active ones, like everybody. Who leaves a legacy keeps their own facts and
        no longer sees what others share, at once.
        """
        if principal.kind == "staff":
            return self
        if principal.user_id is None or (principal.kind == "agent" and "facts" not in principal.sources):
            return self.none()
        legacies = Member.objects.filter(user_id=principal.user_id).values("legacy_id")
        shared = Q(visibility="shared", state="active", legacy_id__in=legacies)
        own = Q(user_id=principal.user_id)
        if principal.kind == "agent" and not principal.may_decide:
            # By state first: prompts read active facts, from an index that does not say when one was held back.
            held_back = self.model.objects.filter(user_id=principal.user_id, quarantined_at__isnull=False)
            own &= ~Q(state__in=["quarantined", "proposed"]) & ~(GONE & Q(pk__in=held_back.values("pk")))
            if principal.review == "before":
                own &= ~Q(pk__in=self._unreviewed(principal.user_id))
        return self.filter(own | shared)

    def mine(self, principal: Principal) -> FactQuerySet:
        """The facts that the person may change: their own."""
        return self.visible_to(principal).filter(user_id=principal.user_id) if principal.user_id else self.none()

    def shown_to(self, principal: Principal) -> FactQuerySet:
        """With what is shown beside each fact, in a constant number of queries: author, evidence, links.

        Evidence quotes a person's own conversation, so it comes with their own facts only, and for an agent only when
        it may read turns. A link comes when the other fact is present and visible too.
        """
        evidence = apps.get_model("facts", "FactEvidence").objects.select_related("message").order_by("id")
        evidence = evidence.only("fact_id", "quote", "message__index", "message__conversation_id", "message__at")
        own = evidence.none()
        if principal.user_id and may_see_sources(principal):
            own = evidence.filter(fact__user_id=principal.user_id)
        others = self.model.objects.visible_to(principal).present()
        links = apps.get_model("facts", "FactLink").objects.order_by("-strength", "id")
        shown = [
            models.Prefetch("evidence", own),
            *(
                models.Prefetch(
                    links_of,
                    links.filter(**{f"{other}__in": others})
                    .select_related(other)
                    .only(
                        "from_fact_id",
                        "to_fact_id",
                        "kind",
                        "strength",
                        *(f"{other}__{name}" for name in ("content", "user_id", "version")),
                    ),
                )
                for links_of, other in (("links_from", "to_fact"), ("links_to", "from_fact"))
            ),
        ]
        columns = self.select_related("user").without_vectors()
        return columns.prefetch_related(*shown)

    def brought_by(self, import_id: UUID) -> FactQuerySet:
        """Those that rest on words which an import brought."""
        evidence = apps.get_model("facts", "FactEvidence").objects
        said = evidence.filter(message__conversation__brought_by=import_id)
        return self.filter(pk__in=said.values("fact"))

    def of_others(self, principal: Principal) -> FactQuerySet:
        """What other members share with the person."""
        return self.visible_to(principal).exclude(user_id=principal.user_id) if principal.user_id else self.none()

    def for_prompt(
        self, principal: Principal, legacy_id: UUID | None, *, as_of: datetime | None = None
    ) -> FactQuerySet:
        """What a prompt about this legacy may hold: facts in use, own ones first, then shared ones, oldest first.

        Without a legacy they are those about all that the person has anything to do with.
        With ``as_of`` those that were in force for this person then and still are. ``block_content`` and
        ``block_category`` are the wording and the category of that moment; without one those of now.
        """
        if principal.user_id is None:
            return self.none()
        rows = self.visible_to(principal).in_use(principal)
        rows = rows if legacy_id is None else rows.filter(legacy_id=legacy_id)
        wording: models.expressions.Combinable = F("content")
        category: models.expressions.Combinable = F("category")
        if as_of is not None:
            rows = rows.filter(_in_force(principal, as_of))
            wording = Coalesce(_version_at(as_of, "content"), wording)
            category = Coalesce(_version_at(as_of, "category"), category)
        own_first = models.Case(models.When(user_id=principal.user_id, then=0), default=1)
        rows = rows.without_vectors().annotate(block_content=wording, block_category=category)
        return rows.order_by(own_first, "extracted_at", "id")

    def changed_since(self, principal: Principal, legacy_id: UUID, moment: datetime) -> FactQuerySet:
        """What a facts block pinned to a moment lacks or words otherwise, of what a prompt about the legacy may hold.

        ``block_content`` and ``block_category`` are as ``for_prompt`` has them then; ``in_block`` says whether the
        fact was in force for the person.
        """
        reworded = Exists(
            apps.get_model("facts", "FactVersion").objects.filter(
                fact=models.OuterRef("pk"), recorded_to__isnull=True, recorded_from__gt=moment
            )
        )
        in_force = models.Case(models.When(_in_force(principal, moment), then=True), default=False)
        rows = self.for_prompt(principal, legacy_id).annotate(
            in_block=in_force,
            block_content=Coalesce(_version_at(moment, "content"), F("content")),
            block_category=Coalesce(_version_at(moment, "category"), F("category")),
        )
        return rows.filter(Q(in_block=False) | reworded)

    def comparable(self) -> FactQuerySet:
        """Those of them that a model may be asked about."""
        return self.present().exclude(state="quarantined")

    def kept_from(self, principal: Principal) -> FactQuerySet:
        """What an agent has just written for the person itself and may see no more, as it waits for them."""
        written = {"number": 1, "actor_kind": "agent", "actor_id": principal.actor_id}
        by_it = apps.get_model("facts", "FactVersion").objects.filter(fact=models.OuterRef("pk"), **written)
        waiting = self.filter(WAITING & Q(user_id=principal.user_id), version=1)
        return waiting.filter(models.Exists(by_it))
