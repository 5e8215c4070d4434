"""Queries over statements, doubts, suppressions and candidates."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial, reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.utils import timezone

from accounts.scope import acting_name
from conversations.echoes import rejected_causes, repeat_withheld
from conversations.withheld_words import WithheldWords
from journal.models import Change, UndoStep
from journal.verdicts import check_compared, verdict
from language.gates.passages import pieces_of
from language.likeness import likeness
from language.reading.refusals import beginnings_of
from language.reading.traces import Traces
from language.third_person import SHORT_CHARACTERS
from retrieval.prepared import PreparedStatement, VectorArray, build_statement
from retrieval.text import list_query_words
from retrieval.vectors import decode_halfvec

from .policy import fingerprints, word_hashers
from .policy.naming import as_of_user
from .policy.resembling import LEAST_SIMILARITY, RESEMBLES, Match, adds_to, contains_all_words, is_far, matching
from .policy.restated import RejectedWords

if TYPE_CHECKING:
    from accounts.principals import Principal

    from .models import Candidate, Doubt, Statement, StatementKind, Suppression  # noqa: F401 - named in the generic bases
    from .wording import Embedded

Row = TypeVar("Row", bound="Statement")

_SUPPRESSED = (Path(__file__).parent / "sql" / "suppressed.sql").read_text(encoding="utf-8")
_CONTENT = """
    SELECT stated.content
    FROM {rows} AS stated
    WHERE stated.id = {key} AND stated.user_id = {{user}}::uuid AND stated.fingerprint = near.fingerprint
    UNION ALL
    SELECT replaced.content
    FROM {versions} AS replaced
    JOIN {rows} AS stated ON stated.id = replaced.{noun}_id
    WHERE stated.id = {key} AND stated.user_id = {{user}}::uuid AND replaced.number = near.version"""
_NEARER = """
    SELECT 1 - (stated.embedding <=> compared.vector)
    FROM {rows} AS stated
    WHERE stated.id = {key} AND stated.user_id = {{user}}::uuid AND stated.embedding_model = {{model}}::text"""
_REWORDED = """
    SELECT stated.content
    FROM {rows} AS stated
    WHERE stated.id = {key} AND stated.user_id = {{user}}::uuid AND NOT EXISTS (
        SELECT FROM memories_tombstone AS own
        WHERE own.user_id = stated.user_id AND own.fingerprint = stated.fingerprint
    )"""
_STATED = """
WITH said AS MATERIALIZED (
    SELECT * FROM unnest({vectors}::halfvec[]) WITH ORDINALITY AS said (vector, position)
), printed AS MATERIALIZED (
    SELECT * FROM unnest({positions}::bigint[], {fingerprints}::text[]) AS printed (position, fingerprint)
)
"""


WITHHELD, REJECTED = 0, -1
"""Positions of rows that are about no text: that the person has withheld words of messages, or rejected anything."""


class SuppressedRow(NamedTuple):
    """A row of the query ``suppressed``: a suppression that may match a text.

    ``similarity`` of the vectors is None if the words are the same. Then ``rejected`` is None, or the current text of a
    statement that the person reworded, if they are an earlier wording of it. Otherwise ``rejected`` is the rejected
    or replaced text, None once it is purged, ``traces`` what is kept of it then, and ``stood`` its vector.
    """

    suppression: int
    similarity: float | None
    rejected: str | None
    traces: str | None
    stood: bytes | None


@dataclass(slots=True)
class SuppressionMatches:
    """The ids of the suppressions that match a text: by the same ``words``, or by ``meaning`` or replaced words.

    ``near``: the text may mean something suppressed. The person decides, and approving it removes no suppression.
    ``nearly``: how alike (``language.likeness``) the single suppressions are that it may mean, 1 if it has all words.
    """

    words: list[int] = field(default_factory=list)
    meaning: list[int] = field(default_factory=list)
    near: bool = False
    nearly: dict[int, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.words or self.meaning or self.near)

    def review_reason(self, text: Embedded) -> str:
        """Return why a text by somebody else has to wait for the person's review, or ""."""
        return RESEMBLES if self else text.review_reason

    def add(self, user_id: UUID, text: Embedded, row: SuppressedRow) -> None:
        """Add a row for a text of this person."""
        if row.similarity is None:
            (self.words if row.rejected is None else self.meaning).append(row.suppression)
        elif text.verbatim:
            self.near = self.near or contains_all_words(text.content, row.rejected)
        else:
            meaning = text.meaning
            alike = likeness(meaning.vector, decode_halfvec(row.stood)) if meaning is not None and row.stood else None
            rejected = None if row.rejected is None else as_of_user(row.rejected, acting_name())
            kept = Traces.parse(row.traces) if row.traces and rejected is None else rejected
            match: Match = ""
            if not is_far(text.saying, kept, row.similarity, alike):
                compare = partial(matching, text.saying, kept, row.similarity, alike, word_hashers(user_id))
                match = verdict((text.shown, text.said, str(kept), row.stood), compare, otherwise="")
            if match == "meaning":
                self.meaning.append(row.suppression)
            # What only adds a word, a figure or a name says what was rejected, too.
            adds = rejected is not None and adds_to(text.shown, rejected)
            if match == "near" or adds:
                self.near = True
                self.nearly[row.suppression] = 1.0 if adds or alike is None else alike

    def include(self, others: SuppressionMatches) -> None:
        """Add the matches of another wording of the text."""
        self.words += others.words
        self.meaning += others.meaning
        self.nearly |= {pk: max(alike, self.nearly.get(pk, alike)) for pk, alike in others.nearly.items()}
        self.near = self.near or others.near


def finish_matches(
    user_id: UUID,
    texts: Sequence[Embedded],
    found: Sequence[SuppressionMatches],
    marks: Collection[int],
    *,
    of_legacy: bool = False,
) -> None:
    """Finish the matches of texts, once all rows have been added. Raises UncomparedError.

    ``marks`` are the positions of the other rows, ``WITHHELD`` and ``REJECTED``. Near are texts that repeat words which
    the person withheld of messages, if no memory held them either, that hold a rejected statement by its words, and
    free ones with a passage that has all words of one, whoever it is said of.
    """
    check_compared()
    read = [(each, to, said) for each, to in zip(texts, found, strict=True) if marks for said in each.readings]
    if WITHHELD in marks:
        for (_, matches, _), repeats in zip(read, repeat_withheld(user_id, [said for *_, said in read]), strict=True):
            matches.near = matches.near or repeats
    # The words of a fact say something else of another legacy.
    causes = rejected_causes(user_id) if REJECTED in marks else []
    causes = [each for each in causes if not of_legacy or each.cause_type == "memory"]
    if not causes:
        return
    stated = RejectedWords(as_of_user(each.text, acting_name()) for each in causes if each.cause_type != "place")
    for _, matches, said in read:
        matches.near = matches.near or stated.are_in(said)
    free = [(matches, said) for text, matches, said in read if text.free]
    pieces = [(matches, piece) for matches, said in free for piece in pieces_of(said, SHORT_CHARACTERS)]
    if not pieces:
        return
    compared = WithheldWords([each.text for each in causes], ["user"])
    for (matches, _), words in zip(pieces, compared.stems([piece for _, piece in pieces]), strict=True):
        matches.near = matches.near or compared.is_held_by(words)


def least_similarity(texts: Iterable[Embedded]) -> float:
    """Return the least similarity at which a suppression can match one of these texts."""
    judged = any(text.meaning is not None for text in texts)
    return min(settings.SUPPRESSION_SIMILARITY, LEAST_SIMILARITY) if judged else settings.SUPPRESSION_SIMILARITY


def suppressed(*, of_legacy: bool) -> str:
    """Return the SQL of the suppressions that match statements: of a legacy and memories, or else of any kind."""
    from .models import Statement  # noqa: PLC0415 - its models import this module

    in_scope = "(suppression.legacy_id = {legacy}::uuid OR suppression.legacy_id IS NULL)" if of_legacy else "true"
    kinds = Statement.__subclasses__()
    contents = " UNION ALL ".join(_CONTENT.format(**_names_of(model, "near")) for model in kinds)
    reworded = " UNION ALL ".join(_REWORDED.format(**_names_of(model, "suppression")) for model in kinds)
    nearer = " UNION ALL ".join(_NEARER.format(**_names_of(model, "compared")) for model in kinds)
    statement = _SUPPRESSED.replace("{in_scope}", in_scope).replace("{nearer}", nearer)
    return statement.replace("{contents}", contents).replace("{reworded}", reworded)


def _names_of(model: type[Statement], of: str) -> dict[str, str]:
    as_uuid = f"CASE WHEN pg_input_is_valid({of}.object_id, 'uuid') THEN {of}.object_id::uuid END"
    key = as_uuid if isinstance(model._meta.pk, models.UUIDField) else f"{of}.object_id"
    noun = model.noun
    return {
        "rows": model._meta.db_table,
        "key": key,
        "versions": f"{model._meta.app_label}_{noun}version",
        "noun": noun,
    }


@cache
def _matching(of_legacy: bool) -> PreparedStatement:
    return build_statement(_STATED + suppressed(of_legacy=of_legacy), {}, lasting=True)


_MOST_NAMED = 100

SEARCHED = ("embedding", "search", "search_text")
"""The columns that only searches use."""


class StatementQuerySet(models.QuerySet[Row]):
    """Queries over facts or memories. Their rooms define ``visible_to``."""

    def visible_to(self, principal: Principal) -> Self:
        """Return the statements that the principal may read."""
        raise NotImplementedError

    def present(self) -> Self:
        """Return those that new statements are compared with: neither archived nor rejected."""
        return self.exclude(state__in=["archived", "rejected"])

    def in_use(self, principal: Principal) -> Self:
        """Return those that may be used: active, and for the person's own also reviewed if they review ``before``.

        Called for every prompt, so that a change of this preference takes effect at once for all statements.
        """
        active = self.filter(state="active")
        return active.exclude(pk__in=self._unreviewed(principal.user_id)) if principal.review == "before" else active

    def _unreviewed(self, user_id: UUID | None) -> models.QuerySet[Row, Any]:
        # Excluded by id, because the index that searches use does not contain ``reviewed_at``.
        rows = self.model._default_manager
        own = rows.filter(user_id=user_id) if user_id else rows.none()
        return own.filter(reviewed_at__isnull=True).values_list("pk", flat=True)

    def naming(self, words: Collection[str]) -> Self:
        """Return the latest that may contain all of the words (lemmas) in any form; none without words."""
        found = self if words else self.none()
        for word in words:
            found = found.filter(reduce(or_, map(_contains, beginnings_of(word))))
        return found.order_by("-updated_at")[:_MOST_NAMED]

    def saying(self, words: str) -> Self:
        """Return those that contain every one of the words as a prefix, ignoring case and accents."""
        wanted = list_query_words(words)
        found = self if wanted else self.none()
        # The longest first, which the fewest hold: the others are not looked for where one is missing.
        for word in sorted(wanted, key=len, reverse=True):
            found = found.filter(search_text__contains=word)
        return found

    def without_vectors(self) -> Self:
        """Defer the columns that only searches use."""
        return self.defer(*SEARCHED)

    def unindexed(self, now: datetime) -> Self:
        """Return those that are due to be embedded or compared."""
        return self.filter(index_not_before__lte=now)

    def due_for_purge(self, now: datetime) -> Self:
        """Return those whose retention is over."""
        return self.filter(purge_at__lte=now)


def _contains(beginning: str) -> models.Q:
    """The condition that a statement contains words that begin so, ignoring case and accents."""
    return models.Q(*(("search_text__contains", word) for word in list_query_words(beginning)))


class DoubtQuerySet(models.QuerySet["Doubt"]):
    """Queries over doubts."""

    def open_of(self, user_id: UUID | None, object_type: str) -> DoubtQuerySet:
        """Return the doubts about a person's facts or memories that the person has not decided about since.

        Neither a decision that was undone nor an undo counts.
        """
        own = {name: models.OuterRef(name) for name in ("object_type", "object_id")}
        undoing = UndoStep.objects.alias(undoes=Cast(KT("before__undoes"), models.BigIntegerField())).filter(
            ledger_id=models.OuterRef("ledger_id"),
            rev__gte=models.OuterRef("rev"),
            undoes__lte=models.OuterRef("rev"),
            **own,
        )
        decided = Change.objects.filter(
            models.Q(event__in=["APPROVE", "REJECT", "DELETE"]) | models.Q(event="UPDATE", actor_kind="person"),
            ~models.Exists(undoing),
            ledger_id=models.OuterRef("user_id"),
            rev__gt=models.OuterRef("rev"),
            **own,
        )
        return self.filter(user_id=user_id, object_type=object_type).exclude(models.Exists(decided))


class SuppressionQuerySet(models.QuerySet["Suppression"]):
    """Queries over suppressions."""

    def of(self, user_id: UUID, legacy_id: UUID | None = None) -> SuppressionQuerySet:
        """Return a person's suppressions of facts of a legacy, or without one of memories."""
        scoped = self.filter(user_id=user_id)
        return scoped.filter(legacy_id=legacy_id) if legacy_id else scoped.filter(legacy__isnull=True)

    def matches(
        self,
        user_id: UUID,
        texts: Sequence[Embedded],
        *,
        legacy_id: UUID | None = None,
        near: bool = True,
    ) -> list[SuppressionMatches]:
        """Return the matching suppressions of each text, in one SQL statement with an exact vector search.

        ``near``: whether to find what is only near, too, with up to five statements more.

        A suppression matches by the same words, or by vectors of the same model (``policy.resembling.matching``).
        A memory is compared with all that the person rejected, a fact with rejected memories and facts of its legacy.
        A text that names the person is also compared as one of "the user".
        """
        if not texts:
            return []
        given, named = len(texts), [(place, other) for place, each in enumerate(texts) if (other := each.said_of_user)]
        texts = [*texts, *(other for _, other in named)]
        found = [SuppressionMatches() for _ in texts]
        said = [(position, each) for position, text in enumerate(texts, start=1)
                for each in fingerprints(user_id, text.content)]  # fmt: skip
        values = {
            "user": user_id,
            "legacy": legacy_id,
            "positions": [position for position, _ in said],
            "fingerprints": [each for _, each in said],
            "vectors": VectorArray.of(text.vector for text in texts),
            "model": next((text.embedding_model for text in texts if text.embedding_model), ""),
            "suppressed_at_least": least_similarity(texts),
        }
        of_legacy, marks = legacy_id is not None, set[int]()
        for position, *row in _matching(of_legacy).run(values):
            if position > 0:
                found[position - 1].add(user_id, texts[position - 1], SuppressedRow(*row))
            else:
                marks |= {position} if near else set()
        finish_matches(user_id, texts, found, marks, of_legacy=of_legacy)
        for (place, _), matches in zip(named, found[given:], strict=True):
            found[place].include(matches)
        return found[:given]


class CandidateQuerySet(models.QuerySet["Candidate"]):
    """Queries over candidates."""

    def waiting_for(self, user_id: UUID | None) -> CandidateQuerySet:
        """Return a person's candidates."""
        return self.filter(user_id=user_id)

    def due(self, user_id: UUID) -> CandidateQuerySet:
        """Return a person's candidates that are due, by rank, then the oldest first."""
        now = timezone.now()
        return self.waiting_for(user_id).filter(not_before__lte=now).order_by("rank", "created_at", "pk")
