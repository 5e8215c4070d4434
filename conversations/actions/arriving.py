"""Withhold what a person refused in messages that arrive: the same sentence, or the same content words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q

from accounts.scope import acting_name
from journal.actions import LedgerWrite
from journal.verdicts import check_compared
from language.gates.unwrapped import Spelled, unwrapped
from language.reading.gist import Gists
from language.shown import letters_of
from retrieval.text import list_words

from .. import policy
from ..echoes import RejectedText
from ..models import Message, Withheld
from ..passages import Original, Span, asks, passages_saying
from ..querysets import ConversationQuerySet, WithheldQuerySet
from ..retelling import Refused
from .withheld_rows import Cause, is_erased, one_per_erased, words_erase
from .withheld_texts import RedactedTexts

_MOST_COMPARED = 200
_FEWEST_WORDS = 3
_FEWEST_LETTERS = 12
_MOST_LINES = 4
_MOST_BEFORE = 2 * _MOST_LINES
_ENDS = re.compile(r"[.!?;:…。！？]\W*$")


class _Part(NamedTuple):
    """A sentence of a message that may be a part of a longer one."""

    message_id: UUID
    span: Span
    words: str


class Found(NamedTuple):
    """A sentence of a message that says again what was refused for the cause."""

    message_id: UUID
    span: Span
    cause: Cause


RefusedSearch = Callable[[UUID, Callable[[], Collection[str]]], tuple[Iterable[RejectedText], Mapping[str, str]]]
_refused_searches: list[RefusedSearch] = []


def register_refused_search(search: RefusedSearch) -> None:
    """Register the search for what a person does not want kept.

    It is called with the person's id and a function that returns the gists of new sentences
    (``language.reading.gist``), needed only where something was refused. It returns the texts that are still stored,
    and of the gists whose texts are gone, the ids of their messages or statements.
    """
    _refused_searches.append(search)


def withhold_repeated(
    write: LedgerWrite,
    user_id: UUID,
    messages: Sequence[Message],
    own: ConversationQuerySet | None = None,
) -> bool:
    """Withhold again, in new messages, the passages that are withheld in identical messages, deleted ones too.

    Also the sentences that say again what is withheld in any other message, or was rejected or erased
    (``sentences_refused``), with the same causes. Returns whether anything was withheld.
    ``own``: messages that repeat only what is withheld outside these conversations stay, off the record.
    Words that an erasure took keep no text, and one row for each passage.
    """
    known = Withheld.objects.filter(user_id=user_id).passages()
    found: list[Found] = []
    gone: set[tuple[UUID, Cause]] = set()
    for row, ids in _identical(user_id, known, messages):
        cause = Cause(row.cause_type, row.cause_id)
        found += (Found(pk, Span(row.start, row.end), cause) for pk in ids)
        gone |= {(pk, cause) for pk in ids if is_erased(row)}
    # Of what lies in an erased passage nothing can be restored for any other cause.
    erased = [each for each in found if (each.message_id, each.cause) in gone]
    again, of_erased = (_outside(each, erased) for each in sentences_refused(user_id, known, messages))
    found += [*again, *of_erased]
    gone |= {(each.message_id, each.cause) for each in of_erased}
    if own is not None:
        found = keep_off_record(user_id, found, own)
        gone &= {(each.message_id, each.cause) for each in found}
    if not found:
        return False
    withhold_found(write, RedactedTexts.load(user_id, {each.message_id for each in found}), found)
    for pk, cause in gone:
        words_erase(Withheld.objects.filter(message=pk).because_of(cause.type, [cause.id]))
    return True


def withhold_found(write: LedgerWrite, texts: RedactedTexts, found: Iterable[Found]) -> None:
    """Withhold what was found in these texts, under the lock."""
    wanted = texts.redactions
    for each in found:
        wanted[each.message_id] |= texts.redactions_for(
            each.message_id, [each.span], each.cause, wanted[each.message_id]
        )
    with write.nested_change():
        texts.apply(write, wanted)


def _identical(
    user_id: UUID, known: WithheldQuerySet, messages: Sequence[Message]
) -> Iterator[tuple[Withheld, Sequence[UUID]]]:
    """Yield what is withheld in identical messages, with the ids of these."""

    @cache
    def by_digest(keyed_by: UUID) -> Mapping[str, Sequence[UUID]]:
        found: dict[str, list[UUID]] = defaultdict(list)
        for message in messages:
            for digest in policy.digests(keyed_by, message.content):
                found[digest].append(message.pk)
        return found

    for row in one_per_erased(known.filter(Q(digest__in=by_digest(user_id)) | Q(keyed_by__isnull=False))):
        if ids := by_digest(row.keyed_by or user_id).get(row.digest):
            yield row, ids


def sentences_refused(
    user_id: UUID, known: WithheldQuerySet, messages: Sequence[Message]
) -> tuple[list[Found], list[Found]]:
    """Return the sentences that say again what was withheld or rejected, and those that say what was erased.

    A sentence repeats a withheld one of at least three words if it has all of these, in their order, or all letters,
    however they are cut or replaced by figures; it may go on over line breaks, and in the next message of its role. It
    also repeats what was refused if a sentence or clause of both has the same content words, or if it tells the same
    with other words between (``retelling``). Compared are the latest 200 of the ``known`` passages that can still be
    restored, without questions, which say nothing. Raises UncomparedError.
    """
    sentences = [(row.pk, *each) for row in messages for each in _over_lines(row.content)]

    @cache
    def said_now() -> Gists:
        return Gists([said for *_, said in sentences], acting_name())

    causes: dict[str, set[Cause]] = defaultdict(set)
    refused: list[tuple[str, Cause]] = []
    rows = known.restorable().order_by("-created_at")
    for text, *cause in rows.values_list("text", "cause_type", "cause_id")[:_MOST_COMPARED]:
        for _span, said in _sentences(text):
            if not asks(said):
                causes[said].add(Cause(*cause))
                refused.append((said, Cause(*cause)))
    told = [
        (_flat(said), letters_of(said), because)
        for said, because in causes.items()
        if _flat(said).count(" ") > _FEWEST_WORDS
    ]

    def held_by(said: str) -> set[Cause]:
        words, letters = _flat(said), letters_of(said)
        held = (because for withheld, spelled, because in told if withheld in words or spelled in letters)
        return set().union(*held)

    found = [(number, cause) for number, (*_, said) in enumerate(sentences if told else ()) for cause in held_by(said)]
    cut = [
        Found(part.message_id, part.span, cause)
        for parts in (_over_messages(messages) if told else ())
        for cause in held_by(_joined(parts)) - held_by(_joined(parts[1:])) - held_by(_joined(parts[:-1]))
        for part in parts
    ]
    over_lines = [
        Found(row.pk, span, cause)
        for row in messages
        for place, span in passages_saying(row.content, [words for words, *_ in told])
        for cause in told[place][2]
    ]
    erased: list[tuple[int, Cause]] = []
    for search in _refused_searches:
        texts, gone = search(user_id, lambda: said_now().places)
        refused += ((each.text, Cause(each.cause_type, each.cause_id)) for each in texts)
        for gist, message_id in gone.items():
            erased += ((number, Cause(Withheld.Cause.MESSAGE, message_id)) for number in said_now().places[gist])
    found += ((number, cause) for said, cause in refused for number in said_now().said_by(said))
    again, of_erased = ([Found(*sentences[number][:2], cause) for number, cause in each] for each in (found, erased))
    again = _shortest([*again, *_spelled(messages, told)])
    retold = _retold(messages, refused, again) if refused else ()
    return [*again, *retold, *cut, *over_lines], _shortest(of_erased)


def _retold(messages: Sequence[Message], refused: Iterable[tuple[str, Cause]], again: Iterable[Found]) -> list[Found]:
    """Find the sentences that tell what was refused with other words between, elsewhere than those found already."""
    causes: dict[str, set[Cause]] = defaultdict(set)
    for said, cause in refused:
        causes[said].add(cause)
    known: dict[tuple[UUID, Cause], list[Span]] = defaultdict(list)
    for each in again:
        known[each.message_id, each.cause].append(each.span)
    sentences = Refused(causes, acting_name())

    def said_in(message_id: UUID, said: str) -> list[Span]:
        return [span for cause in causes[said] for span in known.get((message_id, cause), ())]

    found = [
        Found(row.pk, span, cause)
        for row in messages
        for span, said in sentences.told_in(row.content, partial(said_in, row.pk))
        for cause in causes[said]
    ]
    check_compared()
    return _shortest(found)


def keep_off_record(user_id: UUID, found: Collection[Found], own: ConversationQuerySet) -> list[Found]:
    """Set the messages off the record that repeat what is withheld outside its writer's ``own`` conversations.

    Returns the others: their writer knows that the words are withheld.
    """
    ids = {each.cause.id for each in found}
    known = Withheld.objects.filter(user_id=user_id, conversation__in=own.values("pk"), cause_id__in=ids)
    causes = {Cause(*cause) for cause in known.values_list("cause_type", "cause_id")} if ids else set()
    hidden = {each.message_id for each in found if each.cause not in causes}
    if hidden:
        Message.objects.filter(pk__in=hidden).update(memory_off=True)
    return [each for each in found if each.cause in causes]


def _sentences(text: str) -> Iterator[tuple[Span, str]]:
    original = Original(text)
    return ((span, original.words(span)) for span in original.sentences())


def _spelled(messages: Sequence[Message], told: Sequence[tuple[str, str, set[Cause]]]) -> Iterator[Found]:
    """Yield the sentences whose words spell a withheld one together: in an encoding, or with marks between them.

    If only the whole message spells it, decoded, all of its sentences do.
    """
    for message in messages if told else ():
        spelled, wrapped = Spelled.of(message.content), [*map(letters_of, unwrapped(message.content))]
        sentences = [*Original(message.content).sentences()]
        for _, letters, causes in (each for each in told if len(each[1]) >= _FEWEST_LETTERS):
            places = [*spelled.find(letters)]
            if not places and any(letters in said for said in wrapped):
                places = [(0, len(message.content))]
            for start, end in places:
                over = [each for each in sentences if each.start < end and start < each.end]
                whole = Span(over[0].start, over[-1].end)
                yield from (Found(message.pk, whole, cause) for cause in causes)


def _shortest(found: Sequence[Found]) -> list[Found]:
    """Leave out what goes on over lines of which fewer say it."""
    spans: dict[UUID, set[Span]] = defaultdict(set)
    for each in found:
        spans[each.message_id].add(each.span)

    def holds_another(span: Span, others: set[Span]) -> bool:
        return any(span.start <= each.start and each.end <= span.end for each in others - {span})

    return [each for each in found if not holds_another(each.span, spans[each.message_id])]


def _outside(found: Sequence[Found], passages: Sequence[Found]) -> list[Found]:
    """Leave out what lies in one of the passages."""
    around = [(each.message_id, each.span) for each in passages]
    return [
        each
        for each in found
        if not any(
            pk == each.message_id and span.start <= each.span.start and each.span.end <= span.end for pk, span in around
        )
    ]


def _over_lines(text: str) -> Iterator[tuple[Span, str]]:
    """Yield the sentences of a text, and those of several lines that no mark ends: it may be one sentence."""
    original = Original(text)
    running: list[Span] = []
    for span in original.sentences():
        yield span, original.words(span)
        goes_on = running and not _ENDS.search(text[running[-1].start : span.start])
        running = [*(running if goes_on else ())[1 - _MOST_LINES :], span]
        for each in running[:-1]:
            joined = Span(each.start, span.end)
            yield joined, original.words(joined)


def _over_messages(messages: Sequence[Message]) -> Iterator[list[_Part]]:
    """Yield the parts of what may be one sentence in up to four messages in a row of one role.

    The first ones may be of messages that are stored already.
    """
    running: dict[str, list[_Part]] = defaultdict(list)
    new = {row.pk for row in messages}
    for row, text in [*_stored_before(messages), *((row, Original(row.content)) for row in messages)]:
        spans = list(text.sentences())
        if not spans:
            continue
        first, last = (_Part(row.pk, span, text.words(span)) for span in (spans[0], spans[-1]))
        before = running[row.role]
        if row.pk in new:
            yield from ([*before[start:], first] for start in range(len(before)))
        goes_on = [*(before if len(spans) == 1 else ()), last][1 - _MOST_LINES :]
        running[row.role] = [] if _ENDS.search(row.content) else goes_on


def _joined(parts: Iterable[_Part]) -> str:
    return " ".join(part.words for part in parts)


def _stored_before(messages: Sequence[Message]) -> Iterator[tuple[Message, Original]]:
    """Yield the latest messages of the conversation before these, as they were said."""
    talk, index = messages[0].conversation_id, messages[0].index
    rows = Message.objects.filter(conversation=talk, index__lt=index).order_by("-index")
    rows = rows.only("role", "content", "index")[:_MOST_BEFORE][::-1]
    taken: dict[UUID | None, list[tuple[Span, str]]] = defaultdict(list)
    for each in Withheld.objects.filter(message__in=rows).passages():
        taken[each.message_id].append((Span(each.start, each.end), each.text))
    return ((row, Original(row.content, taken[row.pk])) for row in rows)


def _flat(sentence: str) -> str:
    return f" {' '.join(list_words(sentence))} "
