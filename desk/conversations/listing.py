"""The list of conversations, and the search in messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.db import connection
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils.translation import gettext as _

from accounts.models import Agent, Legacy
from accounts.policy import must_act_for
from accounts.principals import Principal, shape_for
from assistant.recall.search import QueryVector, centre_of_turns
from conversations.models import Conversation, Message
from conversations.passages import MARK
from conversations.policy import ASSISTANT_CHANNEL
from conversations.searching import said_shape
from retrieval.prepared import Shaped, count, read, read_objects, together
from retrieval.search import Hit, hybrid_search
from retrieval.text import list_query_words

from ..listing import ListView, as_id, one_of, words
from ..page import agent_link
from ..quotations import Excerpt, excerpt, message_address, name_talk, shorten, speaker_of

PER_PAGE = 20
MOST_FOUND, LEAST_FOUND = 20, 3
NAMED_IN_WORDS = 2
"""So many words name something, and who names it means messages with the words; more of them ask."""
MOST_TITLES = 5
PASSAGE_CHARACTERS = 140
_PLACEHOLDERS = {"legacy_id": UUID(int=7), "agent_id": UUID(int=8), "brought_by_id": UUID(int=9)}
"""The placeholders of the filters' ids in compiled statements."""
_WORDS = "\0words"
"""The placeholder of the search in compiled statements; no text contains a NUL."""
_TALK_COLUMNS = tuple(
    each.attname
    for each in Conversation._meta.concrete_fields
    if each.name
    in {"id", "title", "channel", "private", "legacy", "agent", "message_count", "summarized_upto", "created_at"}
)
_PASSAGE_COLUMNS = (
    "role",
    "speaker",
    "content",
    "index",
    "at",
    "conversation_id",
    "conversation__title",
    "conversation__channel",
    "conversation__created_at",
    "conversation__agent_id",
    "conversation__agent__name",
)


@dataclass(frozen=True, slots=True)
class ConversationView(ListView):
    """Query parameters of the list: words, legacy, agent, and ``upload``, the id of an import."""

    FILTERS = ("legacy", "agent", "upload")

    search: str = ""
    legacy: str = ""
    agent: str = ""
    upload: str = ""
    more: str = ""
    sort: str = ""
    per_page: int = PER_PAGE
    page: str = "1"

    @classmethod
    def of(cls, query: Mapping[str, str]) -> ConversationView:
        """Parse a query string."""
        return cls(
            search=words(query, "search", 200),
            legacy=as_id(query.get("legacy", "")),
            agent=as_id(query.get("agent", "")),
            upload=as_id(query.get("upload", "")),
            more=one_of(query, "more", ["yes"]),
            page=query.get("page", "1"),
        )

    @property
    def wider(self) -> str:
        """The URL that also shows less similar results."""
        return replace(self, more="yes", page="").query

    @property
    def wanted(self) -> dict[str, str]:
        """The ids that are filtered by, by column."""
        wanted = {"legacy_id": self.legacy, "agent_id": self.agent, "brought_by_id": self.upload}
        return {name: value for name, value in wanted.items() if value}

    def shape(
        self, principal: Principal, name: str, build: Callable[[Principal], QuerySet[Conversation]], *order: str
    ) -> Shaped:
        """Return conversations with the filters applied, and the words for ``_WORDS``, compiled once for each shape."""
        narrowed = {column: _PLACEHOLDERS[column] for column in self.wanted}
        values: dict[Any, Any] = {_PLACEHOLDERS[column]: UUID(wanted) for column, wanted in self.wanted.items()}
        values[f"%{_WORDS}%"] = f"%{connection.ops.prep_for_like_query(self.search)}%"
        key = (name, tuple(narrowed), order)
        return shape_for(principal, key, lambda who: build(who).filter(**narrowed).order_by(*order), values)


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation in the list. ``memory_off``: parts were said while memory was off.

    ``opening``: its first words, if it has no title.
    """

    conversation: Conversation
    said_at: datetime | None
    memory_off: bool
    opening: str


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A found message, with its beginning or the first match."""

    conversation_id: UUID
    name: str
    number: int
    speaker: str
    at: datetime
    excerpt: Excerpt

    @property
    def address(self) -> str:
        """Its URL."""
        return message_address(self.conversation_id, self.number)


def page_of_conversations(principal: Principal, view: ConversationView) -> tuple[Page[Any], list[Row]]:
    """Return a page of the list, latest message first, in a constant number of queries."""
    page = Paginator(cast("QuerySet[Any]", _Talks(principal, view)), PER_PAGE).get_page(view.page)
    shown: list[Any] = list(page.object_list)
    off = Message.objects.visible_to(principal).filter(memory_off=True, conversation__in=[each.pk for each in shown])
    ids = set(off.values_list("conversation_id", flat=True).distinct())
    begins = openings(principal, shown)
    return page, [Row(each, each.said_at, each.pk in ids, begins.get(each.pk, "")) for each in shown]


@dataclass(frozen=True, slots=True)
class _Talks:
    """The conversations of a view for a paginator, latest message first."""

    principal: Principal
    view: ConversationView

    def count(self) -> int:
        """Return their number. One statement."""
        return count(self._rows())

    def __getitem__(self, part: slice) -> list[Conversation]:
        """Return those of a page. One statement."""
        # Not by last_message_at, because of imported conversations.
        return read_talks(self._rows("-said_at", "-created_at", "pk"), part)

    def _rows(self, *order: str) -> Shaped:
        return self.view.shape(self.principal, "talks", with_time, *order)


def with_time(principal: Principal) -> QuerySet[Conversation]:
    """Return the visible conversations with ``said_at``: when their latest message was said, or None."""
    last = Message.objects.visible_to(principal).filter(conversation=OuterRef("pk")).order_by("-index")
    return Conversation.objects.visible_to(principal).annotate(said_at=Subquery(last.values("at")[:1]))


def read_talks(rows: Shaped, part: slice) -> list[Conversation]:
    """Return conversations ``with_time``, with the names of their legacy and their agent. One statement."""
    talks = []
    names = ("said_at", "legacy__name", "agent__name")
    for *columns, said_at, legacy, agent in read(rows, (*_TALK_COLUMNS, *names), part):
        talk: Any = Conversation.from_db("default", _TALK_COLUMNS, columns)
        talk.said_at = said_at
        talk.legacy = talk.legacy_id and Legacy.from_db("default", ("id", "name"), (talk.legacy_id, legacy))
        talk.agent = talk.agent_id and Agent.from_db("default", ("id", "name"), (talk.agent_id, agent))
        talks.append(talk)
    return talks


def openings(principal: Principal, conversations: Iterable[Conversation]) -> dict[UUID, str]:
    """Return the first words of conversations without a title, in one query."""
    unnamed = [each.pk for each in conversations if not each.title or each.channel == ASSISTANT_CHANNEL]
    first = Message.objects.visible_to(principal).filter(conversation__in=unnamed, index=0)
    return {pk: _opening(content) for pk, content in first.values_list("conversation_id", "content")}


def _opening(content: str) -> str:
    return shorten(content.replace(MARK, f"[{_('withheld')}]"), PASSAGE_CHARACTERS)


def find_passages(principal: Principal, view: ConversationView) -> tuple[list[FoundPassage], int]:
    """Search messages by words and by meaning, best first. Returns them with the number of less similar ones.

    Includes private conversations, since only the person sees the results.
    """
    legacy_id, agent_id = (UUID(each) if each else None for each in (view.legacy, view.agent))
    said = said_shape(principal, legacy_id, agent_id)
    query = QueryVector(view.search)
    corpus = query.corpus(must_act_for(principal), "turns")
    asked, centre = query.search(MOST_FOUND, said), centre_of_turns(principal, query)
    hits = hybrid_search(said, asked, corpus, centre=centre, columns=_PASSAGE_COLUMNS)
    # Without a common word only outstanding similarity counts: some message is always the nearest.
    near = settings.RECALL_CONFIDENT
    wanted = list_query_words(view.search)
    is_named = bool(hits and hits[0].keyword) and len(wanted) <= NAMED_IN_WORDS
    least = MOST_FOUND if view.more else 0 if is_named else LEAST_FOUND
    found = [hit for place, hit in enumerate(hits) if hit.keyword or hit.score >= near or place < least]
    return [_passage(hit, wanted) for hit in found], len(hits) - len(found)


def titled(principal: Principal, view: ConversationView) -> list[Conversation]:
    """Return conversations whose title contains the words, latest first."""
    rows = view.shape(
        principal,
        "titled",
        lambda who: Conversation.objects.visible_to(who).filter(title__icontains=_WORDS),
        "-created_at",
    )
    return read_objects(Conversation, rows, _TALK_COLUMNS, slice(0, MOST_TITLES))


def choices(principal: Principal) -> dict[str, list[tuple[str, str]]]:
    """Return the filter choices, legacies and agents, in one round trip."""
    legacies = shape_for(principal, "legacies", lambda who: Legacy.objects.visible_to(who).order_by("name"))
    agents = shape_for(principal, "agents", lambda who: Agent.objects.visible_to(who).order_by("name"))
    found = together(read.steps(legacies, ("pk", "name")), read.steps(agents, ("pk", "name")))
    return {
        name: [(str(pk), called) for pk, called in rows]
        for name, rows in zip(("legacies", "agents"), found, strict=True)
    }


def _passage(hit: Hit, wanted: Sequence[str]) -> FoundPassage:
    role, speaker, content, index, at, conversation_id, *talk, agent_id, agent = hit.columns
    held = [word for word in wanted if word in content.casefold()]
    words = excerpt(content, max(held, key=len, default=""), PASSAGE_CHARACTERS)
    name = name_talk(*talk)
    who = speaker_of(role, speaker, agent_link(agent_id, agent))
    return FoundPassage(conversation_id, name, index + 1, who, at, words)
