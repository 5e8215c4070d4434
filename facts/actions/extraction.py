"""Storing what the summariser found: prepared before its transaction, recorded inside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from django.conf import settings

from accounts.principals import Principal
from accounts.queries import principal_for_job
from conversations.models import Conversation, Message
from journal.actions import LedgerWrite, note_learned
from journal.exceptions import Gated
from journal.operation_actions import note_operation
from language.backends import get_model
from language.base import Comparison, FactCandidate
from language.gates import is_masked, mask_sensitive
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
    """A candidate that passed the gates of form, with its vector and what it is to the facts around it.

    ``verdicts`` says by the wording of another fact whether this one says the same or contradicts it. A fact that
    comes up between preparing and recording has no verdict; its similarity alone decides then. With ``held_back`` it is
    quarantined for that reason.
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
    """Do everything that candidates need the embedder and the model for. Call it outside any transaction.

    A candidate of bad form (length, characters, first or second person, unknown category) or with sensitive data,
    masked or not, is dropped and noted. One that is aimed at a model is held back, and no model is asked about it.
    Raises EmbedderUnavailable, ModelUnavailable, ModelAnswerInvalid: nothing was written, the batch waits.
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
    """Store prepared facts inside the batch's transaction, which holds the user's and the legacy's ledgers.

    What the person has already gets the new evidence. What they rejected stays away; what may mean that, or be no
    statement, waits for them. A candidate without a quote from the person's own message is dropped. Contradictions are
    stored and linked, as are relations to what other members share. Returns the facts that are new.
    """
    user_id, legacy_id = conversation.user_id, conversation.legacy_id
    if legacy_id is None or not {user_id, legacy_id} <= set(write.ledgers):
        raise ValueError("Facts are recorded under the locks of the person and of the legacy.")
    recording = _Recording(write, principal, legacy_id, conversation, messages_by_index)
    texts = [candidate.text for candidate in prepared]
    against = Suppression.objects.matches(FACT, user_id, texts, legacy_id=legacy_id)
    stored = [recording.take(candidate, stands) for candidate, stands in zip(prepared, against, strict=True)]
    return [fact for fact in stored if fact is not None]


@dataclass(frozen=True, slots=True)
class _Recording:
    """What recording one batch works on."""

    write: LedgerWrite
    principal: Principal
    legacy_id: UUID
    conversation: Conversation
    messages: Mapping[int, Message]
    contents: dict[int, str] = field(default_factory=dict)

    def take(self, candidate: PreparedFact, against: SuppressionMatches) -> LegacyFact | None:
        """Store one candidate, or add it to what is there, or leave it out."""
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
        """The person's own messages that say it, the quoted one first, each with words that stand in it.

        What is sensitive is masked in both before they are compared and cut: a quote that is nothing but a secret bears
        nothing out, and no half of one is left.
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
        """A message without what is sensitive in it."""
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
        """Insert the fact with its evidence and its links; it waits where ``resembles`` says why."""
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
        return fact

    def add_evidence(self, fact_id: UUID, said: Sequence[tuple[Message, str]]) -> None:
        """Add what is new of the evidence to a fact that says the same."""
        with fact_under_lock(self.write, LegacyFact.objects.all(), fact_id) as change:
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
        """Log what became of a candidate, and count it if it was learned."""
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
    """The candidate with its content in stored form and what the gates say, or None when one refuses it."""
    try:
        admitted = admit(candidate.content, own_word=False, longest=LONGEST_EXTRACTED)
        check_extracted(admitted.content)
        if is_masked(admitted.content):
            raise Gated("What it tells is the secret that was masked.")
    except Gated:
        note_operation("extract", "gate", "skipped", user_id=user_id, category=candidate.category)
        return None
    if candidate.category not in Category.values:
        note_operation("extract", "category", "skipped", user_id=user_id)
        return None
    return FactCandidate(candidate.category, admitted.content, candidate.indices, candidate.quote), admitted


def _surroundings(
    principal: Principal,
    legacy_id: UUID,
    candidates: Sequence[tuple[FactCandidate, Admitted]],
    texts: Sequence[Embedded],
) -> list[list[str]]:
    """For each candidate the wordings it has to be compared with: stored facts, and earlier candidates of the batch.

    What is held back is compared with nothing: comparing is done by a model, which must not read it.
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
    """Ask the model once what each statement is to the wordings around it; the answers by wording, for each statement.

    Raises ModelUnavailable, ModelAnswerInvalid.
    """
    pairs = [(other, content) for content, others in zip(contents, around, strict=True) for other in others]
    answers = iter(get_model().same_fact(pairs).verdicts if pairs else ())
    return [{other: next(answers) for other in others} for others in around]
