"""Fingerprints of what erased words of messages stated, so that nobody else can write it again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from accounts.scope import working_for
from conversations.models import Conversation, Message, Withheld
from conversations.passages import Original, asks
from journal.actions import LedgerWrite, ledger_write
from language.base import ExtractionRequest, Utterance
from language.reading.gist import gists
from language.reading.statements import read
from language.third_person import about_the_user

from ..models import Suppression
from ..policy import fingerprint, gist_fingerprints
from ..wording import Embedded

_FEWEST_WORDS = 3
"""Shorter sentences state nothing: "Yes.", "Thank you."."""


@dataclass(frozen=True, slots=True)
class ErasedText:
    """A text of a person's message that is about to be erased; ``legacy_name`` is whom the conversation is about.

    ``object_id``: what its fingerprints go with.
    """

    object_id: UUID | str
    text: str
    legacy_name: str | None

    @classmethod
    def of_messages(cls, messages: QuerySet[Message]) -> list[ErasedText]:
        """Return the texts of those messages that the person wrote, with what is withheld of them."""
        own = messages.filter(role=Message.Role.USER)
        whole = own.values_list("pk", "content", "conversation__legacy__name")
        withheld = Withheld.objects.filter(message__in=own.values("pk"))
        return [*(cls(*row) for row in whole), *cls.of_withheld(withheld)]

    @classmethod
    def of_withheld(cls, rows: QuerySet[Withheld], *, by: str = "message_id") -> list[ErasedText]:
        """Return the withheld passages of messages that the person wrote; ``by``: the column of what they go with."""
        passages = rows.filter(object_type="message", message__role=Message.Role.USER).exclude(text="")
        return [cls(*row) for row in passages.values_list(by, "text", "conversation__legacy__name")]


def fingerprints_of_removed(conversation: Conversation) -> Mapping[str, UUID | str]:
    """Return the fingerprints of the withheld words of a conversation that an import takes back, by their causes.

    Suppressed (``erased_words_suppress``), they hold until what they go with is given back.
    """
    withheld = ErasedText.of_withheld(Withheld.objects.filter(conversation=conversation), by="cause_id")
    return fingerprints_of_erased(conversation.user_id, withheld)


def fingerprints_of_erased(user_id: UUID, texts: Iterable[ErasedText]) -> Mapping[str, UUID | str]:
    """Return the fingerprints of a person's sentences, their content words, and what extraction states from them.

    Each with what it goes with.

    Parsing takes 10 to 20 ms a sentence, so it is called before a lock is taken.
    """
    name = User.objects.get(pk=user_id).get_full_name()
    return {
        words: each.object_id
        for each in texts
        for words in (
            *(fingerprint(user_id, said) for said in _stated(each, name)),
            *(gist_fingerprints(user_id, gist)[0] for gist in _gists_of(each, name)),
        )
    }


def _sentences(erased: ErasedText) -> list[str]:
    original = Original(erased.text)
    return [original.words(span) for span in original.sentences()]


def _gists_of(erased: ErasedText, name: str) -> Iterator[str]:
    """Yield the content words of each sentence and clause, without questions, which say nothing."""
    return (each for said in _sentences(erased) if not asks(said) for each in gists(said, name))


def _stated(erased: ErasedText, name: str) -> Iterator[str]:
    yield from (sentence for sentence in _sentences(erased) if len(sentence.split()) >= _FEWEST_WORDS)
    yield from _read_in(erased, name)


def _read_in(erased: ErasedText, name: str) -> Iterator[str]:
    """Yield what extraction states from a text, and as one of the user each sentence in which it finds nothing."""
    yield from _found_in(erased.text, erased, name)
    for said in _sentences(erased):
        if len(said.split()) >= _FEWEST_WORDS and not asks(said) and not _found_in(said, erased, name):
            yield about_the_user(said)


def _found_in(text: str, erased: ErasedText, name: str) -> list[str]:
    message = Utterance(0, Message.Role.USER, "", text, timezone.now())
    found = read(ExtractionRequest([message], name, erased.legacy_name, (), ()))
    return [each.content for each in (*found.statements, *found.momentary, *found.refused)]


def erased_words_suppress(write: LedgerWrite, user_id: UUID, found: Mapping[str, UUID | str]) -> None:
    """Suppress the words with these fingerprints, in the transaction that erases the texts of their objects."""
    if user_id not in write.ledgers:
        raise ValueError("Suppressions are written under the person's ledger lock.")
    Suppression.objects.bulk_create(
        [
            Suppression(user_id=user_id, fingerprint=words, object_id=str(object_id))
            for words, object_id in found.items()
        ],
        ignore_conflicts=True,
    )


def suppress_due(user_id: UUID, rows: QuerySet[Withheld]) -> None:
    """Suppress a person's withheld words whose retention ends: their fingerprints stay.

    Of what they state (``_read_in``), the vectors stay as well, so that other words for them still wait:
    of 9 paraphrases of 4 statements 9, and 2 of 300 ordinary statements. The change that it logs makes a write compare
    again what it read before.
    """
    withheld = ErasedText.of_withheld(rows)
    found = fingerprints_of_erased(user_id, withheld)
    if not found:
        return
    name = User.objects.get(pk=user_id).get_full_name()
    stated = Embedded.of_each([*dict.fromkeys(said for each in withheld for said in _read_in(each, name))])
    messages = Message.objects.filter(pk__in=set(found.values())).values_list("pk", "conversation_id")
    with working_for(user_id, "withheld") as principal, ledger_write(principal.actor, user_id) as write:
        erased_words_suppress(write, user_id, found)
        for text in stated:
            known = Suppression.objects.filter(user_id=user_id, fingerprint=fingerprint(user_id, text.content))
            vector = {"embedding": text.vector, "embedding_model": text.embedding_model}
            known.filter(embedding__isnull=True).update(**vector)
        for pk, conversation_id in messages.order_by("conversation_id", "index"):
            write.change(user_id, "PURGE", "message", pk, conversation_id=conversation_id)
