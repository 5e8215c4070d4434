"""Reads for writing memories: duplicates, neighbours, sources; and for the list of memories and the block's size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import CharField, Count, Exists, F, Min, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Left
from django.utils import timezone

from accounts.policy import must_act_for
from accounts.principals import PLACEHOLDER_AGENT, PLACEHOLDER_USER, Principal, shape_for
from conversations.actions import Cause
from conversations.echoes import MOST_OFFERED, RejectedText, Repetition, RepetitionQuery, find_repetitions
from conversations.models import Conversation, Message
from conversations.passages import Original
from conversations.withheld_words import WithheldWords
from journal.exceptions import NotAllowed, NotFound, Refused, must_find
from journal.models import Change, Ledger
from retrieval.filters import PLACEHOLDER_NOW
from retrieval.prepared import PreparedStatement, Rows, Shaped, build_statement, read, read_objects, together
from statements.actions import rejected_statements, told_beside, wordings
from statements.models import Suppression
from statements.policy import fingerprints
from statements.said_again import statements_say_again
from statements.wording import Embedded

from .models import MEMORY, ComparedPair, Memory, MemoryEvidence, MemoryVersion, Place, PlaceVersion, Relation
from .policy import writing
from .policy.bands import Neighbour
from .querysets import MemoryQuerySet
from .records import QUOTE_CHARACTERS, NewMemory, Said, WritePolicy
from .surroundings import read_surroundings

_FILED = ("kind", "category", "subject", "field", "verbatim")


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """The source of a memory: the conversation, the message and the quote."""

    conversation_id: UUID | None = None
    said: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockFill:
    """The size and budget of a person's memory block, in tokens. ``off``: it is not in prompts at present."""

    tokens: int
    budget: int
    off: bool = False

    @property
    def nearly_full(self) -> int:
        """The number of tokens from which the block counts as nearly full."""
        return self.budget * 9 // 10


class UsualList:
    """The list of active visible memories without filters, latest change first, for a paginator (count, then slice).

    Its queries are compiled once per process and prepared once per connection. Rows are tuples of ``columns``.
    ``until`` is the next expiry, set by ``count``. With ``first``, ``count`` also reads that many rows, in the same
    round trip.
    """

    ordered = True
    until: datetime | None = None

    def __init__(self, principal: Principal, columns: tuple[str, ...], first: int = 0) -> None:
        self._ahead = slice(0, first)
        self._read_ahead: Rows | None = None
        self._someone = principal.with_placeholders()
        self._columns = columns
        self._values = {
            PLACEHOLDER_USER: principal.user_id,
            PLACEHOLDER_AGENT: principal.agent_id,
            PLACEHOLDER_NOW: timezone.now(),
        }

    def count(self) -> int:
        """Count the memories, in one statement; with ``first`` in two."""

        def build() -> Any:
            told = {"number": Count("pk"), "soonest": Min("expires_at")}
            return self._build().order_by().values(all=Value(1)).annotate(**told)

        counted = Shaped(("usual list counted", self._someone), build, self._values)
        reading = [read.steps(counted, ("number", "soonest"))]
        if self._ahead.stop:
            reading.append(read.steps(self._rows(), self._columns, self._ahead))
        found, *ahead = together(*reading)
        self._read_ahead = ahead[0] if ahead else None
        number, self.until = found[0] if found else (0, None)
        return number

    def __getitem__(self, part: slice) -> Rows:
        """Read a page, in one statement unless ``count`` has read it."""
        if self._read_ahead is not None and part.start == 0 and part.stop <= self._ahead.stop:
            return self._read_ahead[part]
        return read(self._rows(), self._columns, part)

    def _rows(self) -> Shaped:
        return Shaped(("usual list", self._someone), self._build, self._values)

    def _build(self) -> MemoryQuerySet:
        rows = Memory.objects.visible_to(self._someone).active().unexpired(PLACEHOLDER_NOW)
        return rows.order_by("-updated_at", "id")


def ledger_of(user_id: UUID) -> Shaped:
    """Return the row of the person's ledger, to read columns of."""
    return Shaped("ledger of a person", lambda: Ledger.objects.filter(pk=PLACEHOLDER_USER), {PLACEHOLDER_USER: user_id})


def block_fill(principal: Principal, tokens: int | None = None) -> BlockFill:
    """Return the size and budget of the person's memory block. Raises NotFound for a principal without a person.

    If ``tokens`` (the ledger's count) is not given, it is read in one statement.
    """
    if tokens is None:
        ((tokens,),) = read(ledger_of(must_act_for(principal)), ("block_tokens",))
    return BlockFill(tokens, settings.MEMORY_BLOCK_TOKENS, off=not principal.has_memory)


def read_source(principal: Principal, conversation_id: UUID | None, message_id: UUID | None) -> EvidenceSource:
    """Read the conversation and the message that a caller gives as the source.

    Raises NotFound if they are not the person's or do not belong together, NotAllowed (403 ``memory_off``) if an agent
    gives a private conversation.
    """
    (source,) = read_sources(principal, [(conversation_id, message_id)])
    if isinstance(source, Refused):
        raise source
    return source


def read_sources(
    principal: Principal, named: Sequence[tuple[UUID | None, UUID | None]]
) -> list[EvidenceSource | NotFound | NotAllowed]:
    """Read many sources in at most two statements. An error takes the place of its source in the result."""
    places = {place for place, message in named if place is not None and message is None}
    said = {message for _, message in named if message is not None}
    talks: dict[UUID, bool] = {}
    if places:
        talks = dict(Conversation.objects.visible_to(principal).filter(pk__in=places).values_list("pk", "private"))
    quotes: dict[UUID, tuple[UUID, bool, str, datetime]] = {}
    if said:
        told = Message.objects.visible_to(principal).filter(pk__in=said)
        messages = told.annotate(quote=Left("content", QUOTE_CHARACTERS))
        rows = messages.values("pk", "conversation_id", "private", "quote", "at")
        quotes = {row["pk"]: (row["conversation_id"], row["private"], row["quote"], row["at"]) for row in rows}
    return [_source(principal, place, message, talks, quotes) for place, message in named]


def _source(
    principal: Principal,
    place: UUID | None,
    message: UUID | None,
    talks: Mapping[UUID, bool],
    quotes: Mapping[UUID, tuple[UUID, bool, str, datetime]],
) -> EvidenceSource | NotFound | NotAllowed:
    if message is not None:
        if message not in quotes or place not in {None, quotes[message][0]}:
            return NotFound("There is no such message.")
        conversation_id, private, quote, at = quotes[message]
        source = EvidenceSource(conversation_id, (Said(message, quote, at),))
    elif place is not None:
        if place not in talks:
            return NotFound("There is no such conversation.")
        private, source = talks[place], EvidenceSource(place)
    else:
        return EvidenceSource()
    if private and not principal.speaks_as_person:
        return NotAllowed("Nothing is remembered out of a private conversation.", code="memory_off")
    return source


def visible(principal: Principal) -> Shaped:
    """Return the memories that the principal sees."""
    return shape_for(principal, "memories", Memory.objects.visible_to)


def filed_as(principal: Principal, memory_id: str) -> NewMemory:
    """Return a memory's kind, category, subject and field, and whether it is verbatim. Raises NotFound."""
    found = read(visible(principal).one(memory_id), _FILED)
    return NewMemory("", **dict(zip(_FILED, must_find(next(iter(found), None), "memory"), strict=True)))


def kept_by_person(
    principal: Principal, memories: Iterable[Memory], policy: WritePolicy | None = None
) -> frozenset[str]:
    """Return the ids of the active and proposed memories that a write changes only with the person's approval.

    These are those that the person worded or pinned, if the write is by an agent or rests on words that it ``relayed``.
    A rewording by others in between changes nothing: an agent may have relayed the words for it. Takes a statement for
    those that others reworded, and one for pinned ones.
    """
    is_by_agent = principal.kind == "agent" and not principal.speaks_as_person
    if not (is_by_agent or (policy is not None and policy.relayed)):
        return frozenset()
    present = [memory for memory in memories if memory.state in {Memory.State.ACTIVE, Memory.State.PROPOSED}]
    worded = {memory.pk for memory in present if not memory.written_by}
    if reworded := [memory.pk for memory in present if memory.version > 1 and memory.pk not in worded]:
        worded.update(memory_id for (memory_id,) in _worded_by_person().run({"ids": reworded}))
    pinned = [memory for memory in present if memory.pinned and memory.pk not in worded]
    return frozenset(worded | ({memory.pk for memory in pinned} - pinned_by(principal, pinned)))


@cache
def _worded_by_person() -> PreparedStatement:
    rows = MemoryVersion.objects.filter(written_by="").exclude(content="").values("memory_id")
    return build_statement(
        "SELECT memory_id FROM ({rows}) AS own WHERE memory_id = ANY ({ids}::text[])", {"rows": rows}, lasting=True
    )


def pinned_by(principal: Principal, memories: Sequence[Memory]) -> set[str]:
    """Return the ids of those of one person's pinned memories that this agent pinned last, or added so."""
    if not memories or principal.agent_id is None:
        return set()
    pins = Change.objects.of_owner(memories[0].user_id).filter(
        event=Change.Event.PIN, object_type=MEMORY.name, object_id__in=[memory.pk for memory in memories]
    )
    last = dict(pins.order_by("rev").values_list("object_id", "actor_id"))
    added = {memory.pk for memory in memories if memory.pk not in last and memory.agent_id == principal.agent_id}
    return added | {memory_id for memory_id, actor_id in last.items() if actor_id == principal.actor_id}


def same_words(principal: Principal, user_id: UUID, kind: str, content: str, subject: str) -> Memory | None:
    """Return the present memory with the same words and subject, ignoring case, accents and punctuation.

    Only visible ones; active before waiting ones, then the oldest.
    """
    rows = Memory.objects.visible_to(principal).present().filter(user_id=user_id, kind=kind)
    rows = rows.filter(fingerprint__in=fingerprints(user_id, content))
    found = [memory for memory in rows.without_vectors() if not writing.are_apart(memory.subject, subject)]
    return min(found, key=lambda memory: (memory.state != "active", memory.created_at), default=None)


def neighbours(
    principal: Principal,
    user_id: UUID,
    text: Embedded,
    *,
    kind: str,
    subject: str,
    but: str = "",
) -> list[Neighbour]:
    """Return the person's present memories of a kind that are nearest to a text, nearest first, by exact search.

    At most ``MEMORY_NEIGHBOURS`` with a similarity of at least ``MEMORY_LINK_MIN_SIMILARITY``; none without a vector.
    Hidden memories are included as ``apart``, without content.
    """
    if text.vector is None:
        return []
    statement = NewMemory("", "", subject=subject, kind=kind), text
    (around,) = read_surroundings(principal, user_id, [statement], but=but).around
    return around.neighbours


def at_odds(memory: Memory) -> set[str]:
    """Return the ids of memories that a model found to contradict one, as both are worded now."""
    found = ComparedPair.objects.filter(
        Q(kept=memory) | Q(dropped=memory),
        asked=True,
        verdict__in=[ComparedPair.Verdict.REPLACES, ComparedPair.Verdict.CONTRADICTS],
        kept_version=F("kept__version"),
        dropped_version=F("dropped__version"),
    )
    return {each for pair in found.values_list("kept_id", "dropped_id") for each in pair if each != memory.pk}


def agents_of_conversations(principal: Principal, conversation_ids: Collection[UUID]) -> dict[UUID, UUID]:
    """Return the agents of the visible ones among the conversations; no query if there are none."""
    if not conversation_ids:
        return {}
    conversations = Conversation.objects.visible_to(principal).filter(pk__in=conversation_ids, agent__isnull=False)
    return dict(conversations.values_list("pk", "agent_id"))


def holder(user_id: UUID, field: str) -> Memory | None:
    """Return the active memory of a single-valued field, or None."""
    if not writing.single_valued(field):
        return None
    return Memory.objects.filter(user_id=user_id, field=field).active().without_vectors().first()


def in_the_way(principal: Principal, memory: Memory) -> dict[str, Any]:
    """Return the part of an error response about a conflicting memory; empty for a hidden one."""
    seen = Memory.objects.visible_to(principal).filter(pk=memory.pk).exists()
    return {"memory": writing.brief(memory)} if seen else {}


def also_said(principal: Principal, memory_id: str, *, archived: bool = False) -> list[Repetition]:
    """Return repetitions of a memory that the person does not want kept; ``archived``: see ``find_repetitions``."""
    found = read_objects(Memory, visible(principal).one(memory_id))
    if not found:
        return []
    (memory,) = found
    text = Embedded.of_row(memory)
    return find_repetitions(
        principal, ("memory", memory.pk), wordings(MEMORY, memory), text.vector, text.embedding_model, archived=archived
    )


def place_said_again(principal: Principal, place_id: UUID) -> list[Repetition]:
    """Return repetitions of what the notes of a place say, in all their wordings: archived memories and facts, too."""
    notes = PlaceVersion.objects.filter(place__in=Place.objects.visible_to(principal).filter(pk=place_id))
    said = told_beside(notes.order_by("-number").values_list("notes", flat=True))
    telling = [words for words, stems in zip(said, WithheldWords(said, ["user"]).each, strict=True) if len(stems) > 1]
    return find_repetitions(principal, ("place", place_id), telling, None, "", archived=True) if telling else []


def said_by_others(user_id: UUID, gone: Collection[Memory], but: Collection[str] = ()) -> set[str]:
    """Return the ids of those memories out of use whose words another present memory has. ``but``: ids not to count."""
    twins = Memory.objects.filter(user_id=user_id, fingerprint__in={memory.fingerprint for memory in gone})
    present = list(twins.present().exclude(pk__in=but).only("fingerprint", "kind", "subject"))
    return {
        memory.pk
        for memory in gone
        for twin in present
        if (twin.fingerprint, twin.kind) == (memory.fingerprint, memory.kind)
        and not writing.are_apart(twin.subject, memory.subject)
    }


def unchanged_imported(user_id: UUID, import_id: UUID, *, any_state: bool = False) -> MemoryQuerySet:
    """Return the memories of an import that nobody has decided about or reworded since.

    With ``any_state``, return also those.
    """
    own = Memory.objects.filter(user_id=user_id, brought_by=import_id)
    return own if any_state else own.filter(version=1, reviewed_at__isnull=True, pinned=False)


def memories_say_again(principal: Principal, sought: RepetitionQuery) -> list[Repetition]:
    """Return memories and places that repeat something that is not to be kept."""
    found = statements_say_again(principal, Memory.objects.visible_to, sought, "memory", "subject", "topics")
    return [*found, *_places_say_again(principal, sought.said)]


def memories_rejected(user_id: UUID, not_kept: bool) -> list[RejectedText]:
    """Return the stored texts of a person's rejected and deleted memories, and names and notes of their removed places.

    Names and notes that a present place has are excluded. With ``not_kept``, return only memories that they do not want
    kept.
    """
    statements = rejected_statements(MEMORY, user_id, not_kept)
    if not_kept:
        return statements
    suppressions = Suppression.objects.filter(user_id=user_id, object_id=Cast(OuterRef("pk"), CharField()))
    places = Place.objects.filter(user_id=user_id)
    removed = places.filter(Exists(suppressions), deleted_at__isnull=False)
    named, noted = (Exists(places.present().filter(**{name: OuterRef(name)})) for name in ("name", "notes"))
    versions = PlaceVersion.objects.filter(place__in=removed).values_list("name", "notes", "place_id", named, noted)
    texts: list[RejectedText] = []
    for name, notes, pk, has_name, has_notes in versions:
        # A name alone states nothing of the person.
        texts += [] if has_name else [RejectedText(name, "place", str(pk))]
        texts += [RejectedText(said, "note", str(pk)) for said in ([] if has_notes else told_beside([notes]))]
    return [*statements, *dict.fromkeys(texts)]


def memories_kept_of(user_id: UUID, message_ids: Collection[UUID], cause: Cause) -> Iterable[str]:
    """Return the contents of active memories that cite these messages, except derived ones and the ``cause``."""
    behind = MemoryEvidence.objects.filter(message__in=message_ids, version__recorded_to__isnull=True)
    made = Relation.objects.filter(from_memory=OuterRef("pk"), type=Relation.Type.DERIVED_FROM)
    rows = Memory.objects.filter(~Exists(made), user_id=user_id, kind__in=["semantic", "procedural"]).active()
    gone = cause.id if cause.type == "memory" else ""
    return rows.filter(pk__in=behind.values("version__memory")).exclude(pk=gone).values_list("content", flat=True)


def _places_say_again(principal: Principal, said: WithheldWords) -> list[Repetition]:
    def present(someone: Principal) -> QuerySet[Place]:
        return Place.objects.visible_to(someone).present().order_by("-updated_at")

    if not said.words:
        return []
    rows = said.shape_in_part(principal, "places", present, "name", "notes")
    found = read(rows, ("pk", "name", "notes"), slice(0, MOST_OFFERED))
    texts = {pk: Original(f"{name}.\n{notes}") for pk, name, notes in found}
    saying: dict[UUID, list[str]] = defaultdict(list)
    for pk, span, each in said.in_sentences(texts):
        if said.is_said_by(each):
            saying[pk].append(texts[pk].words(span))
    return [Repetition("place", str(pk), " ".join(quotes), surely=True) for pk, quotes in saying.items()]
