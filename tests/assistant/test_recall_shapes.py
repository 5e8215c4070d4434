"""What recall looks through is compiled once for all who ask alike, and finds what each of them may find themselves."""

from dataclasses import replace
from datetime import timedelta
from unittest import mock
from uuid import UUID

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person
from conversations.actions import messages_index
from conversations.models import ConversationChunk, Message
from conversations.searching import InPrompt, Recallable, chunks_shape, read_latest_chunk, read_window, turns_shape
from facts.models import LegacyFact
from facts.searching import FactSelection, facts_shape
from language.backends import get_embedder
from retrieval import prepared
from retrieval import search as searching
from retrieval.filters import Filters
from retrieval.search import Corpus, SearchQuery, hybrid_search
from tests import factories

pytestmark = pytest.mark.django_db
QUERY = SearchQuery("boats", None, "", 50)
CORPUS = Corpus(9, 27)
NOW = timezone.now()
SAID = [
    Recallable(),
    Recallable(filters=Filters(role="user")),
    Recallable(filters=Filters(agent_id=UUID(int=7))),
    Recallable(filters=Filters(updated_after=NOW - timedelta(days=1), updated_before=NOW + timedelta(days=1))),
    Recallable(filters=Filters(updated_before=NOW - timedelta(days=1))),
    Recallable(until=NOW + timedelta(days=1), recorded_until=NOW - timedelta(days=1)),
    Recallable(until=NOW - timedelta(days=1), recorded_until=NOW + timedelta(days=1)),
]


@pytest.fixture(autouse=True)
def _nothing_kept(settings):
    """As in a process that has just begun, so that a test does not see what another put together."""
    settings.KEEPSAKE_EMBEDDER = "hashing"
    for found in (searching._hybrid, searching._columns, searching._places):
        found.clear()
    prepared._reading.cache_clear()


@pytest.fixture
def talks(owner, stranger):
    """One conversation of each with an agent, one of each about a legacy, and two summaries of each."""
    agents = [factories.AgentFactory(pk=UUID(int=7), owner=owner), factories.AgentFactory(owner=stranger)]
    made = {}
    for person, agent in zip((owner, stranger), agents, strict=True):
        legacy = factories.LegacyFactory(owner=person)
        about = factories.ConversationFactory(user=person, legacy=legacy)
        talk = factories.ConversationFactory(user=person, agent=agent)
        for conversation in (talk, about):
            for number, role in enumerate(("user", "assistant", "user", "user")):
                factories.MessageFactory(conversation=conversation, content=f"Boats, {number} of them.", role=role)
            Message.objects.filter(conversation=conversation, index=2).update(declined=True)
            for start in (0, 2):
                summary(conversation, start)
        for content in ("She had boats.", "Her father painted boats blue."):
            factories.LegacyFactFactory(user=person, legacy=legacy, content=content)
        made[person] = (talk, about, agent)
    messages_index()
    return made


def summary(conversation, start):
    embedder = get_embedder()
    ConversationChunk.objects.create(
        conversation=conversation,
        user=conversation.user,
        legacy=conversation.legacy,
        content="They spoke of boats.",
        search_text="they spoke of boats",
        search_length=4,
        written_by="test",
        message_range_start=start,
        message_range_end=start + 2,
        embedding=embedder.embed_passages(["boats"])[0],
        embedding_model=embedder.name,
    )


def principals(person, agent):
    """The person, and agents that may read less and less."""
    own = principal_for_person(person.pk)
    as_agent = replace(own, kind="agent", agent_id=agent.pk, scopes=frozenset({"read"}))
    return [own, as_agent, replace(as_agent, sources=frozenset()), replace(as_agent, review="before")]


def by_hand(rows, wanted, at):
    """The ids of those that may be recalled, from the rows a principal sees, without the search's own conditions."""
    spans = [
        lambda row: wanted.filters.updated_after is None or at(row) >= wanted.filters.updated_after,
        lambda row: wanted.filters.updated_before is None or at(row) < wanted.filters.updated_before,
        lambda row: wanted.until is None or at(row) <= wanted.until,
        lambda row: wanted.recorded_until is None or row.created_at <= wanted.recorded_until,
        lambda row: wanted.filters.role is None or row.role == wanted.filters.role,
        lambda row: wanted.filters.agent_id is None or row.conversation.agent_id == wanted.filters.agent_id,
    ]
    return {row.pk for row in rows if row.legacy_id == wanted.legacy_id and all(span(row) for span in spans)}


def found(shape):
    return {hit.id for hit in hybrid_search(shape, QUERY, CORPUS)}


@pytest.mark.parametrize("wanted", SAID, ids=range(len(SAID)))
def test_what_was_said_is_found_by_whom_it_is_visible_to(talks, wanted):
    for person, (_, about, agent) in talks.items():
        for principal in principals(person, agent):
            for legacy_id in (None, about.legacy_id):
                asked = replace(wanted, legacy_id=legacy_id)
                messages = Message.objects.visible_to(principal).select_related("conversation")
                open_ones = [row for row in messages if principal.recalls_record and not row.declined]
                assert found(turns_shape(principal, asked)) == by_hand(open_ones, asked, lambda row: row.at)
                if wanted.filters.role is None:
                    chunks = ConversationChunk.objects.visible_to(principal).select_related("conversation")
                    known = chunks if principal.recalls_record else []
                    assert found(chunks_shape(principal, asked)) == by_hand(known, asked, lambda row: row.created_at)


def test_what_the_prompt_shows_is_left_out(talks, owner):
    talk, _, _ = talks[owner]
    principal = principal_for_person(owner.pk)
    for first, upto in ((0, 4), (3, 4), (1, 2)):
        shown = InPrompt(talk.pk, first, upto)
        left = Message.objects.filter(conversation=talk, index__lt=first, declined=False)
        assert found(turns_shape(principal, Recallable(), shown)) == {row.pk for row in left}
        ended = ConversationChunk.objects.filter(conversation=talk, message_range_end__lte=upto)
        assert found(chunks_shape(principal, Recallable(), shown)) == {row.pk for row in ended}


def test_rows_that_are_told_are_left_out_as_if_they_were_not_there(talks, owner):
    talk, _, _ = talks[owner]
    shape = turns_shape(principal_for_person(owner.pk), Recallable())
    gone = Message.objects.get(conversation=talk, index=0)
    left = hybrid_search(shape, QUERY, CORPUS, without=[gone.pk])
    gone.delete()
    assert left == hybrid_search(shape, QUERY, CORPUS)
    assert len(left) == 2


@pytest.mark.parametrize("days", [None, -1, 1])
def test_facts_are_found_by_whom_they_are_visible_to(talks, days):
    span = Filters() if days is None else Filters(updated_before=NOW + timedelta(days=days))
    for person, (_, about, agent) in talks.items():
        for principal in principals(person, agent):
            hobbies = replace(span, category="hobby")
            for wanted in (
                FactSelection(None, span),
                FactSelection(about.legacy_id, span),
                FactSelection(None, hobbies),
            ):
                rows = LegacyFact.objects.visible_to(principal).in_use(principal)
                rows = [row for row in rows if wanted.legacy_id in {None, row.legacy_id}]
                rows = [row for row in rows if wanted.filters.category in {None, row.category}]
                expected = {row.pk for row in rows if days != -1}
                assert found(facts_shape(principal, wanted)) == expected


def test_everything_is_put_together_once_for_all_who_ask_alike(talks):
    with (
        mock.patch.object(searching, "build_statement", wraps=searching.build_statement) as put,
        mock.patch.object(prepared, "build_statement", wraps=prepared.build_statement) as put_for_reading,
    ):
        for person, (talk, about, _) in talks.items():
            principal = principal_for_person(person.pk)
            for legacy_id, upto in ((about.legacy_id, 4), (about.legacy_id, 2)):
                shown = InPrompt(talk.pk, upto - 2, upto)
                assert len(found(turns_shape(principal, Recallable(legacy_id), shown))) == 3
                assert len(found(chunks_shape(principal, Recallable(legacy_id), shown))) == 2
                assert len(found(facts_shape(principal, FactSelection(legacy_id)))) == 2
                assert [row.index for row in read_window(principal, talk.pk, 1, upto, 10)] == [*range(upto - 1, 0, -1)]
                assert read_latest_chunk(principal, talk.pk, upto).message_range_end == upto
        assert put.call_count == 3
        assert put_for_reading.call_count == 2
