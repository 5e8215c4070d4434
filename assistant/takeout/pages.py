"""The HTML pages of an export, with embedded style and no other resources.

Each page has a bounded number of rows, newest first, and is rendered on its own. The language is the person's if there
is a catalogue, else English; event names are those of the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from django.conf import settings
from django.db.models import Prefetch, QuerySet
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext_noop

from accounts.models import User
from accounts.policy import must_act_for
from accounts.principals import Principal
from conversations.models import Conversation, ConversationChunk, Message
from facts.models import FactEvidence, FactVersion, LegacyFact
from journal.models import Change
from memories.models import Memory, MemoryEvidence, MemoryVersion, Place
from memories.policy.leaving import gone_because

T = TypeVar("T")

ROWS_PER_PAGE = 500
MESSAGES_PER_PAGE = 1_000
CHANGES_PER_PAGE = 2_000


@dataclass(frozen=True, slots=True)
class Section:
    """Pages of one kind: title, and the content of each page."""

    name: str
    title: str
    read: Callable[[Principal], Iterator[list[Any]]]


def pages_of(principal: Principal) -> Iterator[tuple[str, str]]:
    """Yield the name and HTML of each page. The index comes last."""
    language = _catalogue(principal.language)
    counts: list[tuple[str, str, int]] = []
    for section in SECTIONS:
        files = 0
        for files, rows in enumerate(section.read(principal), start=1):
            page = _html(language, section.name, section.title, rows=rows, number=files, section=section)
            yield _file(section, files), page
        with translation.override(language):
            title = translation.gettext(section.title)
        counts.extend((title, _file(section, number), number) for number in range(1, files + 1))
    person = User.objects.get(pk=must_act_for(principal))
    yield "index.html", _html(language, "index", gettext_noop("Everything about me"), person=person, pages=counts)


def _file(section: Section, number: int) -> str:
    return f"pages/{section.name}-{number}.html"


def _catalogue(language: str) -> str:
    try:
        return translation.get_supported_language_variant(language)
    except LookupError:
        return settings.LANGUAGE_CODE


def _html(language: str, template: str, title: str, **context: Any) -> str:
    with translation.override(language):
        return render_to_string(f"takeout/{template}.html", {"title": translation.gettext(title), **context})


def _batches(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    rows = iter(rows)
    while batch := list(islice(rows, size)):
        yield batch


_VECTORS = ("embedding", "search", "search_text")


def _memories(principal: Principal) -> Iterator[list[tuple[Memory, str]]]:
    """Yield memories, latest first, with the reasons of inactive ones."""
    evidence = Prefetch("evidence", MemoryEvidence.objects.select_related("message__conversation").order_by("pk"))
    versions = MemoryVersion.objects.defer(*_VECTORS).order_by("-number").prefetch_related(evidence)
    rows = Memory.objects.visible_to(principal).defer(*_VECTORS).order_by("-created_at", "pk")
    for batch in _prefetched(rows, Prefetch("versions", versions)):
        yield [(memory, gone_because(memory)) for memory in batch]


def _facts(principal: Principal) -> Iterator[list[LegacyFact]]:
    evidence = Prefetch("evidence", FactEvidence.objects.select_related("message__conversation").order_by("pk"))
    versions = Prefetch("versions", FactVersion.objects.order_by("-number"))
    rows = LegacyFact.objects.mine(principal).defer(*_VECTORS).select_related("legacy").order_by("-extracted_at", "pk")
    return _prefetched(rows, versions, evidence)


def _places(principal: Principal) -> Iterator[list[Place]]:
    return _prefetched(Place.objects.visible_to(principal).order_by("-added_at", "pk"), "versions", "mentions")


def _conversations(principal: Principal) -> Iterator[list[tuple[Conversation, list[ConversationChunk], list[Message]]]]:
    """Yield conversations, latest first, with summaries; long ones on several pages."""
    talks = Conversation.objects.visible_to(principal).select_related("legacy").order_by("-created_at", "pk")
    page: list[tuple[Conversation, list[ConversationChunk], list[Message]]] = []
    room = MESSAGES_PER_PAGE
    for talk in talks.iterator(chunk_size=ROWS_PER_PAGE):
        chunks = list(talk.chunks.filter(hidden_since__isnull=True).defer(*_VECTORS).order_by("message_range_start"))
        said = talk.messages.defer(*_VECTORS).order_by("index").iterator(chunk_size=MESSAGES_PER_PAGE)
        while part := list(islice(said, room)):
            page.append((talk, chunks, part))
            chunks, room = [], room - len(part)
            if not room:
                yield page
                page, room = [], MESSAGES_PER_PAGE
    if page:
        yield page


def _history(principal: Principal) -> Iterator[list[Change]]:
    log = Change.objects.of_owner(must_act_for(principal)).order_by("-rev")
    return _batches(log.iterator(chunk_size=CHANGES_PER_PAGE), CHANGES_PER_PAGE)


def _prefetched(rows: QuerySet[Any], *lookups: Prefetch[Any] | str) -> Iterator[list[Any]]:
    return _batches(rows.prefetch_related(*lookups).iterator(chunk_size=ROWS_PER_PAGE), ROWS_PER_PAGE)


SECTIONS = (
    Section("memories", gettext_noop("Memories"), _memories),
    Section("facts", gettext_noop("Facts that I said about others"), _facts),
    Section("places", gettext_noop("Places"), _places),
    Section("conversations", gettext_noop("Conversations"), _conversations),
    Section("history", gettext_noop("What happened"), _history),
)
