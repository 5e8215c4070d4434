"""Find repetitions of withheld words: in the assistant's later replies, other messages, titles and other rooms."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet
from pgvector import HalfVector

from accounts.principals import PLACEHOLDER_AGENT, PLACEHOLDER_USER, Principal, shape_for
from language.base import Vectors
from retrieval.prepared import SHAPES, PreparedStatement, build_statement, read

from . import policy
from .models import Conversation, Message, Withheld
from .passages import MARK, Original, asks
from .withheld_words import WithheldWords

AGAIN_SIMILARITY = 0.79
"""The least cosine similarity at which a short message that shares a word with a statement may repeat it.

With the bundled embedder the vector alone is weak evidence: of 15 paraphrases 10 reached it, of 15 sentences on the
same topic 5. So matches by meaning are only offered to the person.
"""
SHORT_CHARACTERS = 300
"""The longest message compared by vector: that of a longer one covers too many topics."""
MOST_OFFERED = 20
MOST_MESSAGES = 50
MOST_SENTENCES = 300
"""Of a conversation so many messages of the person, and so many of their sentences, are looked for elsewhere."""
_MOST_LOOKED_AT = 200
_READ_AT_ONCE = 60
"""So many likely messages are read before it is asked whether enough were found."""
_OBJECT, _CAUSE = UUID(int=6), "\0cause"
"""The placeholders of the message or the conversation, and of the id of the cause, in compiled statements."""
_SAID_AGAIN = (Path(__file__).parent / "sql" / "said_again.sql").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Repetition:
    """A repetition of a statement in a message, a title, a memory, a fact or a place's notes.

    ``object_id`` is the row's id, for a title the conversation's. ``index`` is the message's. ``quote`` is the matching
    text; ``surely``: it matches in words, not only in meaning, and doesn't ask.
    """

    object_type: str
    object_id: str
    quote: str
    surely: bool
    conversation_id: UUID | None = None
    index: int | None = None

    @property
    def key(self) -> str:
        """The key by which it is chosen among others."""
        return f"{self.object_type}-{self.object_id}"


@dataclass(frozen=True, slots=True)
class RepetitionQuery:
    """A search for repetitions: the words, the statement's vector, its cause (type and id), and whether in archives."""

    said: WithheldWords
    cause: tuple[str, object]
    vector: Vectors | None
    embedding_model: str
    archived: bool


@dataclass(frozen=True, slots=True)
class RejectedText:
    """The stored text of something a person rejected or removed, with its type and id as a cause of withholding."""

    text: str
    cause_type: str
    cause_id: str


RejectedTexts = Callable[[UUID, bool], Iterable[RejectedText]]
_rejected_texts: list[RejectedTexts] = []


def register_rejected_texts(texts: RejectedTexts) -> None:
    """Register a room's stored texts that a person rejected or removed, whether or not a message said them.

    It is called with the person's id and ``not_kept``: whether to leave out what is merely not true.
    """
    _rejected_texts.append(texts)


ActiveTexts = Callable[[UUID, WithheldWords], Iterable[str]]
_active_texts: list[ActiveTexts] = []


def register_active_texts(texts: ActiveTexts) -> None:
    """Register a room's texts in use that share a word with withheld ones: a reply may go on saying them."""
    _active_texts.append(texts)


def active_texts(user_id: UUID, said: WithheldWords) -> list[str]:
    """Return the registered texts that share a word with withheld ones and don't repeat them."""
    found = [text for of_room in _active_texts for text in of_room(user_id, said)]
    return [text for text, words in zip(found, said.stems(found), strict=True) if not said.is_said_by(words)]


def rejected_causes(user_id: UUID, *, not_kept: bool = False) -> list[RejectedText]:
    """Return what a person rejected or removed in all registered rooms, as far as its text is stored."""
    return [each for of_room in _rejected_texts for each in of_room(user_id, not_kept)]


def rejected_texts(user_id: UUID, *, not_kept: bool = False) -> list[str]:
    """Return the texts of ``rejected_causes``."""
    return [each.text for each in rejected_causes(user_id, not_kept=not_kept)]


Search = Callable[[Principal, RepetitionQuery], Iterable[Repetition]]
_searches: list[Search] = []


def register_repetition_search(search: Search) -> None:
    """Register a room's search for repetitions of a rejected statement."""
    _searches.append(search)


def repeats_withheld(user_id: UUID, titles: Sequence[str]) -> bool:
    """Whether any title was withheld before, or repeats words that the person does not want kept.

    Compares the latest 200 withheld passages that can still be restored, and ``rejected_texts``.
    Erased titles are recognised only if identical.
    """
    titles = [each for each in titles if each.strip()]
    if not titles:
        return False
    rows = Withheld.objects.filter(user_id=user_id)
    digests = [digest for title in titles for digest in policy.digests(user_id, title)]
    if rows.filter(object_type="title", digest__in=digests).exists():
        return True
    sentences = [*withheld_sentences(user_id), *rejected_texts(user_id, not_kept=True)]
    if not sentences:
        return False
    said = WithheldWords(sentences, ["user"])
    return any(map(said.is_said_by, said.stems(titles)))


def repeat_withheld(user_id: UUID, texts: Sequence[str]) -> list[bool]:
    """Return of each text whether it repeats a sentence that a person withheld of a message, of the same people."""
    sentences = withheld_sentences(user_id)
    if not sentences:
        return [False] * len(texts)
    said = WithheldWords(sentences, ["user"])
    return [said.is_stated_by(words, text) for words, text in zip(said.stems(texts), texts, strict=True)]


def withheld_sentences(user_id: UUID) -> list[str]:
    """Return the sentences of the latest 200 withheld passages of a person's messages that can still be restored."""
    passages = Withheld.objects.filter(user_id=user_id).restorable().passages().filter(message__role="user")
    latest = passages.order_by("-created_at").values_list("text", flat=True)[:_MOST_LOOKED_AT]
    return [text.words(span) for text in map(Original, latest) for span in text.sentences()]


def find_repetitions(
    principal: Principal,
    cause: tuple[str, object],
    statements: Sequence[str],
    vector: Vectors | None,
    embedding_model: str,
    *,
    names: Iterable[str] = (),
    but: UUID | None = None,
    archived: bool = False,
) -> list[Repetition]:
    """Return repetitions of what is rejected or erased: in messages, in titles, then in the registered rooms.

    They match the words of one of the ``statements``, the words withheld for them (``cause``: the type and id of the
    memory, fact or message that states them), or the meaning. ``names`` don't count as words, nor what the conversation
    ``but`` says. ``archived``: also archived and rejected memories and facts. Returns at most 20 messages and
    titles, the latest first, and 20 per room.
    """
    rows = shape_for(
        principal,
        ("withheld because of", cause[0]),
        lambda someone: Withheld.objects.visible_to(someone).because_of(cause[0], [_CAUSE]).passages(),
        {_CAUSE: str(cause[1])},
    )
    withheld = read(rows, ("message_id", "text"))
    said = WithheldWords([*statements, *(text for _, text in withheld)], ["user", *names])
    sought = RepetitionQuery(said, cause, vector, embedding_model, archived)
    talked = _in_messages(principal, sought, {pk for pk, _ in withheld}, but)
    if len(talked) < MOST_OFFERED:
        talked += _in_titles(principal, said, but)
    return talked[:MOST_OFFERED] + [each for search in _searches for each in search(principal, sought)]


def withheld_said_again(principal: Principal, message_ids: Sequence[UUID]) -> list[Repetition]:
    """Return what else says the same as the words of messages that were withheld by themselves."""
    found = [each for pk in message_ids for each in find_repetitions(principal, ("message", pk), [], None, "")]
    return list({each.key: each for each in found if each.object_id not in map(str, message_ids)}.values())


def message_said_again(principal: Principal, message_id: UUID) -> list[Repetition]:
    """Return what else says what a sentence of a message says. Sentences of one word, such as a yes, don't count.

    Withheld words of the message count, and archived and rejected memories and facts.
    """
    found = _said_again(principal, ("message", message_id), {"pk": _OBJECT})
    return [each for each in found if each.object_id != str(message_id)]


def conversation_said_again(principal: Principal, conversation_id: UUID) -> list[Repetition]:
    """Like ``message_said_again`` for the latest of what the person said in a conversation."""
    own = {"conversation": _OBJECT, "role": "user"}
    return _said_again(principal, ("conversation", conversation_id), own, conversation_id)


def _said_again(
    principal: Principal, cause: tuple[str, UUID], wanted: Mapping[str, object], but: UUID | None = None
) -> list[Repetition]:
    def said(someone: Principal) -> QuerySet[Message]:
        return Message.objects.visible_to(someone).filter(**wanted).order_by("-index")[:MOST_MESSAGES]

    def held(someone: Principal) -> QuerySet[Withheld]:
        rows = Withheld.objects.visible_to(someone).passages().restorable()
        return rows.filter(message__in=said(someone).values("pk")).order_by("-created_at")[:MOST_MESSAGES]

    given = {_OBJECT: cause[1]}
    messages = read(
        shape_for(principal, ("told by", *wanted), said, given), ("content", "embedding_model", "embedding")
    )
    withheld = read(shape_for(principal, ("withheld of", *wanted), held, given), ("text",))
    texts = [Original(content) for content, *_ in [*messages, *withheld]]
    sentences = [words for text in texts for words in map(text.words, text.sentences()) if MARK not in words]
    stems = WithheldWords(sentences[:MOST_SENTENCES]).each
    telling = [words for words, each in zip(sentences, stems, strict=False) if len(each) > 1]
    content, model, embedding = messages[0] if len(messages) == 1 else ("", "", None)
    is_short = telling and embedding is not None and len(content) <= SHORT_CHARACTERS
    vector = np.asarray(embedding, dtype=np.float32) if is_short else None
    return find_repetitions(principal, cause, telling, vector, model, but=but, archived=True) if messages else []


def _in_messages(
    principal: Principal, sought: RepetitionQuery, withheld: Collection[UUID], but: UUID | None
) -> list[Repetition]:
    said = sought.said
    found = _read_likely(principal, sought, withheld, but) if said.words else []
    offered: dict[UUID, Repetition] = {}
    for first in range(0, len(found), _READ_AT_ONCE):
        if len(offered) >= MOST_OFFERED:
            break
        part = found[first : first + _READ_AT_ONCE]
        near = {pk for is_near, _, pk, *_ in part if is_near}
        texts = {pk: Original(content) for *_, pk, _, _, content in part}
        places = {pk: (conversation, index) for *_, pk, conversation, index, _ in part}
        for pk, span, words in said.in_sentences(texts):
            is_same, quote = said.is_said_by(words), texts[pk].words(span)
            surely, known = is_same and not asks(quote), offered.get(pk)
            if (is_same or (pk in near and words & said.words)) and (known is None or surely > known.surely):
                offered[pk] = Repetition("message", str(pk), quote, surely, *places[pk])
    return list(offered.values())[:MOST_OFFERED]


def _read_likely(
    principal: Principal, sought: RepetitionQuery, withheld: Collection[UUID], but: UUID | None
) -> list[tuple[Any, ...]]:
    """Return messages that may say it, the latest first: nearness, time, id, conversation, index, content.

    Of those near by meaning, and of the others, the latest. Runs one statement, since each reads all messages.
    """
    values: dict[Any, Any] = {
        **{PLACEHOLDER_USER: principal.user_id, PLACEHOLDER_AGENT: principal.agent_id},
        **sought.said.queries(),
        "config": sought.said.config,
        "model": sought.embedding_model,
        "vector": None if sought.vector is None else HalfVector(sought.vector),
        "apart": 1 - AGAIN_SIMILARITY,
        "short": SHORT_CHARACTERS,
        "but_messages": list(withheld),
        "but_talk": but,
        "most": _MOST_LOOKED_AT + MOST_OFFERED,
    }
    try:
        found = _likely(principal.with_placeholders()).run(values)
    except EmptyResultSet:
        return []
    return sorted(found, key=lambda each: each[1:3], reverse=True)


@lru_cache(maxsize=SHAPES)
def _likely(someone: Principal) -> PreparedStatement:
    """Compile the statement, shared by principals with the same kind of access. Raises EmptyResultSet."""
    rows = Message.objects.visible_to(someone).filter(declined=False).order_by()
    columns = ("pk", "at", "conversation_id", "index", "content", "search_config", "search", "embedding_model")
    read = {"rows": rows.values_list(*columns, "embedding")}
    return build_statement(_SAID_AGAIN, read, placeholders={PLACEHOLDER_USER, PLACEHOLDER_AGENT}, lasting=True)


def _in_titles(principal: Principal, said: WithheldWords, but: UUID | None) -> list[Repetition]:
    def named(someone: Principal) -> QuerySet[Conversation]:
        rows = Conversation.objects.visible_to(someone).filter(message_count__gt=0)
        return rows.exclude(pk=_OBJECT).order_by("-last_message_at")

    if not said.words:
        return []
    # No conversation has the id that stands for none.
    rows = said.shape_in_part(principal, "titles", named, "title", values={_OBJECT: but or UUID(int=0)})
    titles = dict(read(rows, ("pk", "title"), slice(0, _MOST_LOOKED_AT)))
    pairs = zip(titles.items(), said.stems(list(titles.values())), strict=True)
    return [Repetition("title", str(pk), title, True, pk) for (pk, title), words in pairs if said.is_said_by(words)]
