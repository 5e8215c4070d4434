"""Reads that facts and memories have alike, and what may not come back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import connection, models
from pgvector import HalfVector

from retrieval.text import list_query_words

from .policy import fingerprints

if TYPE_CHECKING:
    from accounts.principals import Principal

    from .models import Statement, Suppression  # noqa: F401 - named in the generic bases
    from .wording import Embedded

Row = TypeVar("Row", bound="Statement")

_SUPPRESSED = (Path(__file__).parent / "sql" / "suppressed.sql").read_text(encoding="utf-8")


class StatementQuerySet(models.QuerySet[Row]):
    """Facts or memories. Who may see which is for their rooms to say."""

    def visible_to(self, principal: Principal) -> Self:
        """Those that the principal may read."""
        raise NotImplementedError

    def present(self) -> Self:
        """Those that a new statement is compared with: neither archived nor rejected."""
        return self.exclude(state__in=["archived", "rejected"])

    def in_use(self, principal: Principal) -> Self:
        """Those that count: active ones, but of the person's own only reviewed ones while they review before.

        It is asked whenever something is read for a prompt, so that a change of that preference counts at once, also
        for what was found before it, and can be taken back.
        """
        active = self.filter(state="active")
        return active.exclude(pk__in=self._unreviewed(principal.user_id)) if principal.review == "before" else active

    def _unreviewed(self, user_id: UUID | None) -> models.QuerySet[Row, Any]:
        # By id: the index that searches read alone does not say what was reviewed.
        rows = self.model._default_manager
        own = rows.filter(user_id=user_id) if user_id else rows.none()
        return own.filter(reviewed_at__isnull=True).values_list("pk", flat=True)

    def saying(self, words: str) -> Self:
        """Those that hold every one of the words, or the beginning of one, whatever case and accents."""
        wanted = list_query_words(words)
        found = self if wanted else self.none()
        for word in wanted:
            found = found.filter(search_text__contains=word)
        return found

    def without_vectors(self) -> Self:
        """Without the columns that only searches read."""
        return self.defer("embedding", "search", "search_text")

    def unindexed(self, now: datetime) -> Self:
        """Those that wait for their vector, or for being compared, and whose time to try has come."""
        return self.filter(index_not_before__lte=now)

    def due_for_purge(self, now: datetime) -> Self:
        """Those whose time in the archive is over."""
        return self.filter(purge_at__lte=now)


class SuppressionQuerySet(models.QuerySet["Suppression"]):
    """Suppressions of one person, about one legacy or about themselves."""

    def of(self, user_id: UUID, legacy_id: UUID | None = None) -> SuppressionQuerySet:
        """Those of a person for a legacy, or those for none."""
        scoped = self.filter(user_id=user_id)
        return scoped.filter(legacy_id=legacy_id) if legacy_id else scoped.filter(legacy__isnull=True)

    def matching(self, user_id: UUID, texts: Sequence[Embedded], *, legacy_id: UUID | None = None) -> list[bool]:
        """Say for each text whether a suppression stands against it.

        It does when the words are the same, or when vectors of one model have a cosine similarity of at least
        ``SUPPRESSION_SIMILARITY``. Exact, and one statement for any number of texts.
        """
        said = [
            (position, value, None if text.vector is None else HalfVector(text.vector).to_text(), text.embedding_model)
            for position, text in enumerate(texts)
            for value in fingerprints(user_id, text.content)
        ]
        positions, prints, vectors, models_ = (list(column) for column in zip(*said, strict=True)) if said else [[]] * 4
        values = {
            "user": user_id,
            "legacy": legacy_id,
            "positions": positions,
            "fingerprints": prints,
            "vectors": vectors,
            "models": models_,
            "at_least": settings.SUPPRESSION_SIMILARITY,
        }
        with connection.cursor() as cursor:
            cursor.execute(_SUPPRESSED, values)
            found = {row[0] for row in cursor.fetchall()}
        return [position in found for position in range(len(texts))]
