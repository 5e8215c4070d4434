"""Storing extracted facts: prepared before the summariser's transaction, recorded inside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from django.conf import settings

from accounts.principals import Principal
from accounts.queries import principal_for_job
from conversations.models import Conversation, Message
from journal.actions import LedgerWrite, count_use, note_learned
from journal.exceptions import Gated
from journal.operation_actions import note_operation
from language.backends import get_model
from language.base import Comparison, FactCandidate
from language.gates import is_masked, mask_sensitive
from statements.actions import doubt_statement
from statements.models import Suppression
from statements.policy import LONGEST_EXTRACTED, Admitted, admit, check_extracted
from statements.querysets import SuppressionMatches
from statements.wording import Embedded, Wording

from ..models import FACT, FactEvidence, FactLink, LegacyFact
from ..policy import Category
from ..queries import FactNeighbour, neighbours, same_words
from .single import fact_under_lock, insert, link

QUOTE_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class PreparedFact:
    """A candidate that passed the gates, with its vector and the model's verdicts.

    ``verdicts`` maps the wording of another fact to whether this one says the same or contradicts it. A fact added
    between preparing and recording has no verdict, and is compared by similarity alone. ``held_back`` is the reason to
    quarantine it, or "".
    """

    text: Embedded
    wording: Wording
    category: str
    indices: tuple[int, ...]
    quote: str
    written_by: str
    verdicts: Mapping[str, Comparison]
    held_back: str = ""


def prepare_extracted(
    legacy_id: UUID, user_id: UUID, candidates: Sequence[FactCandidate], written_by: str
) -> list[PreparedFact]:
    """Check, embed and compare candidates. Call it outside of transactions, as it calls the embedder and the model.

    Candidates of bad form, of an unknown category, or with sensitive data (masked or not) are dropped and logged. One
    with instructions to a model is held back, and not sent to a model. Raises EmbedderUnavailable, ModelUnavailable,
    ModelAnswerInvalid.
    """
    principal = principal_for_job(user_id)
    gated = [found for found in (_gated(user_id, candidate) for candidate in candidates) if found]
    passed = [candidate for candidate, _ in gated]
    if not passed:
        return []
    texts = Embedded.read_each([candidate.content for candidate in passed])
    around = _surroundings(principal, legacy_id, gated, texts)
    verdicts = verdicts_on([candidate.content for candidate in passed], around)
    return [
        PreparedFact(
            text=text,
            wording=text.worded(principal, user_id),
            category=candidate.category,
            indices=candidate.indices,
            quote=candidate.quote,
            written_by=written_by[:80],
            verdicts=verdict,
            held_back=admitted.held_back,
        )
        for (candidate, admitted), text, verdict in zip(gated, texts, verdicts, strict=True)
    ]


def record_extracted(
    write: LedgerWrite,
    principal: Principal,
    conversation: Conversation,
    prepared: Sequence[PreparedFact],
    messages_by_index: Mapping[int, Message],
) -> list[LegacyFact]:
    """Store prepared facts in the batch's transaction, which holds the ledgers of the person and the legacy.

    A duplicate of the person's own fact adds evidence to it. A suppressed candidate is dropped; one that may mean
    something rejected, or not be a statement, is proposed. A candidate without a quote from the person's own message is
    dropped. Contradictions, and relations to facts shared by other members, are stored as links. Returns new facts.
    """
    user_id, legacy_id = conversation.user_id, conversation.legacy_id
    if legacy_id is None or not {user_id, legacy_id} <= set(write.ledgers):
        raise ValueError("Facts are recorded under the locks of the person and of the legacy.")
    recording = _Recording(write, principal, legacy_id, conversation, messages_by_index)
    texts = [candidate.text for candidate in prepared]
    against = Suppression.objects.matches(user_id, texts, legacy_id=legacy_id)
    stored = [recording.take(candidate, stands) for candidate, stands in zip(prepared, against, strict=True)]
    return [fact for fact in stored if fact is not None]


def foresee_extracted(
    principal: Principal, user_id: UUID, legacy_id: UUID, candidates: Sequence[FactCandidate]
) -> list[tuple[str, str | None]]:
    """Return the contents that are to be stored of candidates, with why each will wait; None if it will not.

    The reason is "" where all wait for the person's approval. What is told already in other words is among them.
    Writes nothing. Call it outside of transactions.
    """
    passed = []
    for candidate in candidates:
        with suppress(Gated):
            if candidate.category in Category.values:
                passed.append(_admitted(candidate)[1])
    texts = Embedded.of_each([each.content for each in passed])
    against = Suppression.objects.matches(user_id, texts, legacy_id=legacy_id)
    usual = "" if principal.review == "before" else None
    stored: list[tuple[str, str | None]] = []
    for admitted, text, stands in zip(passed, texts, against, strict=True):
        twin = same_words(principal, legacy_id, admitted.content)
        if twin is not None:
            stored.append((twin.content, None if twin.state == LegacyFact.State.ACTIVE else twin.state_reason))
        elif not stands.words:
            stored.append((admitted.content, admitted.held_back or stands.review_reason(text) or usual))
    return stored


@dataclass(frozen=True, slots=True)
class _Recording:
    """Records one batch."""

    write: LedgerWrite
    principal: Principal
    legacy_id: UUID
    conversation: Conversation
    messages: Mapping[int, Message]
    contents: dict[int, str] = field(default_factory=dict)

    def take(self, candidate: PreparedFact, against: SuppressionMatches) -> LegacyFact | None:
        """Store one candidate, add its evidence to a duplicate, or drop it."""
        said, wording = self.said(candidate), candidate.wording
        if not said:
            self.note(candidate, "unsupported")
            return None
        twin = same_words(self.principal, self.legacy_id, wording.content)
        if twin is not None:
            self.add_evidence(twin.pk, said)
            self.note(candidate, "duplicate", fact_id=twin.pk, sim=1.0)
            return None
        if against.words:
            self.note(candidate, "suppressed")
            return None
        if candidate.held_back:
            fact = self.store(candidate, said, [], "")
            self.note(candidate, "quarantine", fact_id=fact.pk, status="ok")
            return fact
        vector = np.asarray(candidate.text.vector)
        around = neighbours(self.principal, self.legacy_id, vector, wording.embedding_model)
        related = [(found, kind) for found in around if (kind := found.relation(wording.content, candidate.verdicts))]
        own = next((found for found, kind in related if found.mine and kind == FactLink.Kind.DUPLICATE), None)
        if own is not None:
            self.add_evidence(own.fact_id, said)
            self.note(candidate, "duplicate", fact_id=own.fact_id, sim=own.similarity)
            return None
        reason = against.review_reason(candidate.text)
        fact = self.store(candidate, said, related, reason)
        self.note(candidate, "propose" if reason else "add", fact_id=fact.pk, status="ok")
        return fact

    def said(self, candidate: PreparedFact) -> list[tuple[Message, str]]:
        """Return the person's own messages that say it, the quoted one first, each with a quote from it.

        Sensitive data is masked before quotes are compared and cut, so that no part of it is stored.
        """
        messages = [
            message
            for message in map(self.messages.get, dict.fromkeys(candidate.indices))
            if message and message.role == Message.Role.USER and message.user_id == self.conversation.user_id
        ]
        quote = mask_sensitive(candidate.quote.strip())
        contents = [self.masked(message) for message in messages]
        if not messages or not quote or quote not in contents[0]:
            return []
        words = [quote if quote in content else content.strip() for content in contents]
        return [(message, said[:QUOTE_CHARACTERS]) for message, said in zip(messages, words, strict=True)]

    def masked(self, message: Message) -> str:
        """Return a message with sensitive data masked."""
        if message.index not in self.contents:
            self.contents[message.index] = mask_sensitive(message.content)
        return self.contents[message.index]

    def store(
        self,
        candidate: PreparedFact,
        said: Sequence[tuple[Message, str]],
        related: Sequence[tuple[FactNeighbour, str]],
        resembles: str,
    ) -> LegacyFact:
        """Insert the fact with its evidence and links; it is proposed if ``resembles`` is a reason."""
        fact = LegacyFact(
            legacy_id=self.legacy_id,
            user_id=self.conversation.user_id,
            category=candidate.category,
            written_by=candidate.written_by,
            source_conversation=self.conversation,
            source_index=said[0][0].index,
        )
        proposed = self.principal.review == "before"
        change = insert(
            self.write,
            fact,
            candidate.wording,
            reviewed=False,
            proposed=proposed,
            resembles=resembles,
            compare=False,
            held_back=candidate.held_back,
        )
        FactEvidence.objects.bulk_create(
            FactEvidence(fact=fact, message=message, quote=quote) for message, quote in said
        )
        link(change, related)
        self.doubt_earlier(said[0][0].index, related)
        return fact

    def doubt_earlier(self, index: int, related: Sequence[tuple[FactNeighbour, str]]) -> None:
        """Mark facts as possibly out of date that the person stated earlier in this conversation, and now denies."""
        denied = [found.fact_id for found, kind in related if found.mine and kind == FactLink.Kind.CONTRADICTS]
        if not denied:
            return
        said = FactEvidence.objects.filter(message__conversation=self.conversation, message__index__lt=index)
        user_id = self.conversation.user_id
        for fact_id in said.filter(fact__in=denied).values_list("fact", flat=True).distinct():
            doubt_statement(user_id, FACT.name, str(fact_id), self.write.ledgers[user_id].rev)

    def add_evidence(self, fact_id: UUID, said: Sequence[tuple[Message, str]]) -> None:
        """Add new evidence to a fact that says the same."""
        with fact_under_lock(self.write, fact_id) as change:
            known = set(change.fact.evidence.values_list("message_id", flat=True))
            new = [(message, quote) for message, quote in said if message.pk not in known]
            FactEvidence.objects.bulk_create(
                FactEvidence(fact=change.fact, message=message, quote=quote) for message, quote in new
            )
            if new:
                change.log("LINK", conversation_id=self.conversation.pk, evidence=len(new))

    def note(
        self,
        candidate: PreparedFact,
        op: str,
        *,
        status: str = "skipped",
        fact_id: object = "",
        sim: float | None = None,
    ) -> None:
        """Log the outcome of a candidate, and count it if it was stored."""
        note_learned(self.conversation.user_id, int(status == "ok"))
        note_operation(
            "extract",
            op,
            status,
            user_id=self.conversation.user_id,
            thread_id=self.conversation.pk,
            object_id=fact_id,
            category=candidate.category,
            sim=sim,
        )


def _gated(user_id: UUID, candidate: FactCandidate) -> tuple[FactCandidate, Admitted] | None:
    """Return the candidate in its stored form with the result of the gates, or None if one refuses it."""
    if candidate.category not in Category.values:
        note_operation("extract", "category", "skipped", user_id=user_id)
        return None
    try:
        return _admitted(candidate)
    except Gated:
        note_operation("extract", "gate", "skipped", user_id=user_id, category=candidate.category)
        return None


def _admitted(candidate: FactCandidate) -> tuple[FactCandidate, Admitted]:
    """Return the candidate in its stored form with the result of the gates. Raises Gated."""
    admitted = admit(candidate.content, own_word=False, longest=LONGEST_EXTRACTED)
    check_extracted(admitted.content)
    if is_masked(admitted.content):
        raise Gated("What it tells is the secret that was masked.")
    return FactCandidate(candidate.category, admitted.content, candidate.indices, candidate.quote), admitted


def _surroundings(
    principal: Principal,
    legacy_id: UUID,
    candidates: Sequence[tuple[FactCandidate, Admitted]],
    texts: Sequence[Embedded],
) -> list[list[str]]:
    """Return for each candidate the texts to compare it with: stored facts and earlier candidates of the batch.

    Candidates that are held back are not compared, because a model does that and must not read them.
    """
    vectors = np.array([text.vector for text in texts])
    cosines = vectors @ vectors.T
    around: list[list[str]] = []
    for number, (candidate, admitted) in enumerate(candidates):
        if admitted.held_back:
            around.append([])
            continue
        found = neighbours(principal, legacy_id, vectors[number], texts[number].embedding_model)
        contents = [neighbour.content for neighbour in found]
        contents += [
            earlier.content
            for other, (earlier, as_admitted) in enumerate(candidates[:number])
            if not as_admitted.held_back and cosines[number, other] >= settings.FACT_RELATED_SIMILARITY
        ]
        around.append([content for content in dict.fromkeys(contents) if content != candidate.content])
    return around


def verdicts_on(contents: Sequence[str], around: Sequence[Sequence[str]]) -> list[dict[str, Comparison]]:
    """Compare each statement with the texts around it, in one call of the model. Returns verdicts by text for each.

    Raises ModelUnavailable, ModelAnswerInvalid.
    """
    pairs = [(other, content) for content, others in zip(contents, around, strict=True) for other in others]
    if not pairs:
        return [{} for _ in around]
    compared = count_use("compare", get_model().same_fact, pairs)
    answers = iter(compared.verdicts)
    return [{other: next(answers) for other in others} for others in around]
