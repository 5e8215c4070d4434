"""A no binds the words: what is not to be kept leaves the record, whoever quotes it follows, and it can come back."""

import io
import json
import zipfile
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import Grant
from accounts.queries import principal_for_person
from assistant.imports.loading import append_step, plan_step
from assistant.learn.actions import message_decline, message_release
from assistant.learn.rewriting import rewrite_chunks
from assistant.learn.summarizing import sweep
from assistant.recall.turn import prepare_turn
from assistant.takeout.export_actions import export_begin, run_export
from conversations.actions import (
    NewMessage,
    PassagePlace,
    chunk_write,
    conversation_remove,
    messages_append,
    messages_index,
    passages_withhold,
    withheld_erase,
    withheld_restore,
    withholding,
)
from conversations.actions import record as record_actions
from conversations.imports.records import ParsedConversation, ParsedMessage
from conversations.models import Conversation, ConversationChunk, Message, Withheld
from conversations.passages import MARK, Original, Span, merged
from desk.withheld import views as withheld_pages
from facts.actions import fact_delete, fact_reject, fact_restore, fact_unshare_withheld
from facts.models import FactEvidence, LegacyFact
from journal.actions import ledger_write
from journal.exceptions import NotFound, NotYoursToDecide
from journal.models import Change, Export, ExportPart, Ledger
from journal.steps import watch_revisions
from journal.undo import undo
from language.backends import get_embedder
from language.base import ModelUnavailable
from language.reading import stock
from memories import queries
from memories.actions import (
    memories_decide,
    memory_add,
    memory_archive,
    memory_reject,
    memory_restore,
    memory_update,
    optimize_apply,
    optimize_plan,
    place_add,
    proposal_reject,
    transitions,
)
from memories.models import Memory, MemoryEvidence, MemoryVersion, Relation
from memories.records import NewMemory
from statements.models import RejectionReason
from tests import factories
from tests.memories.plans import Scripted
from tests.memories.rows import remember

pytestmark = pytest.mark.django_db
CELLO = "I play the cello in an orchestra."
SAID = f"Good morning! {CELLO} Shall we begin?"
ECHO = "How nice that you play the cello. Let us begin."


def me(person):
    return principal_for_person(person.pk)


def say(person, *contents, conversation=None, **kwargs):
    """A conversation in which the person and the assistant take turns."""
    conversation = conversation or factories.ConversationFactory(user=person, **kwargs)
    roles = ("user", "assistant")
    messages = [NewMessage(roles[n % 2], content) for n, content in enumerate(contents)]
    messages_append(me(person), conversation.pk, messages)
    return conversation


def learned(person, conversation, content="The user plays the cello.", quote=CELLO, index=0, **columns):
    """A memory with evidence in a conversation."""
    (memory,) = remember(person, content, **columns)
    message = Message.objects.get(conversation=conversation, index=index)
    MemoryEvidence.objects.create(version=MemoryVersion.objects.get(memory=memory), message=message, quote=quote)
    return memory


def record(conversation):
    return list(Message.objects.filter(conversation=conversation).order_by("index").values_list("content", flat=True))


def summed_up(person, conversation, content, start=0, end=2):
    (vector,) = get_embedder().embed_passages([content])
    with ledger_write(me(person).actor, person.pk) as write:
        conversation.refresh_from_db()
        chunk = {"content": content, "written_by": "test", "start": start, "end": end}
        return chunk_write(write, conversation, embedding=vector, embedding_model=get_embedder().name, **chunk)


def dont_keep(person, memory):
    return memory_reject(me(person), memory.pk, RejectionReason.DONT_KEEP)


# --- What is taken out -------------------------------------------------------------------------------------------


def test_the_sentences_that_hold_the_quote_are_withheld_with_the_assistants_echo(owner):
    conversation = say(owner, SAID, ECHO)
    dont_keep(owner, learned(owner, conversation))
    assert record(conversation) == [f"Good morning! {MARK} Shall we begin?", f"{MARK} Let us begin."]


def test_what_the_assistant_said_of_something_else_that_is_kept_of_the_sentence_stays(owner):
    both = "My daughter Mia was born on 3 March 2019 and hates spinach."
    born, hates = "Your daughter Mia was born on 3 March 2019.", "So Mia hates spinach, noted."
    conversation = say(owner, both, born, "And?", hates)
    learned(owner, conversation, "The user's daughter Mia was born on 3 March 2019.", both)
    dont_keep(owner, learned(owner, conversation, "The user's daughter Mia hates spinach.", both))
    assert record(conversation) == [MARK, born, "And?", MARK]


def test_what_is_declined_takes_also_what_was_said_of_what_was_learned_from_it(owner):
    conversation = say(owner, SAID, ECHO)
    learned(owner, conversation)
    message_decline(me(owner), conversation.pk, 0)
    assert record(conversation) == [MARK, f"{MARK} {MARK}"]


@pytest.mark.parametrize("stock", stock.STOCK)
def test_what_the_assistant_says_to_everybody_gives_nothing_away(owner, stock):
    sister = "My sister is called Ilse, and I like to live alone, remember that."
    conversation = say(owner, sister, stock)
    dont_keep(owner, learned(owner, conversation, "The user's sister is called Ilse.", sister))
    assert record(conversation) == [MARK, stock]


@pytest.mark.parametrize("role", ["tool", "system"])
def test_what_a_program_wrote_afterwards_goes_like_the_assistants_echo(owner, role):
    conversation = say(owner, SAID, "Noted.")
    told = json.dumps({"saved": "The user plays the cello in an orchestra."})
    messages_append(me(owner), conversation.pk, [NewMessage(role, told), NewMessage(role, '{"weather": "It snows."}')])
    dont_keep(owner, learned(owner, conversation))
    assert record(conversation)[2:] == [MARK, '{"weather": "It snows."}']


def test_what_was_read_wrongly_stays_in_the_record(owner):
    conversation = say(owner, SAID, ECHO)
    memory_reject(me(owner), learned(owner, conversation).pk)
    assert record(conversation) == [SAID, ECHO]


def test_a_quote_that_is_not_found_takes_the_whole_message(owner):
    conversation = say(owner, SAID)
    dont_keep(owner, learned(owner, conversation, quote="I am a cellist"))
    assert record(conversation) == [MARK]
    message = Message.objects.get(conversation=conversation)
    assert (message.search_text, messages_index(conversation.pk)) == ("", 0)


@pytest.mark.parametrize("columns", [{"kind": "episodic", "category": "event"}, {"kind": "insight"}, {}])
def test_what_was_made_of_others_withholds_nothing_itself(owner, columns):
    conversation = say(owner, SAID)
    memory = learned(owner, conversation, **columns)
    if not columns:
        (source,) = remember(owner, "The user has a cello.")
        Relation.objects.create(user=owner, from_memory=memory, to_memory=source, type="derived_from", strength=1)
    dont_keep(owner, memory)
    assert record(conversation) == [SAID]


def test_what_was_made_of_a_source_leaves_use_with_it(owner):
    conversation = say(owner, SAID)
    memory = learned(owner, conversation)
    told = learned(owner, conversation, "They talked about the cello.", kind="episodic", category="event")
    (merged_one, unrelated) = remember(owner, "The user makes music.", "The user has a dog.")
    for one, other in ((merged_one, memory), (told, merged_one)):
        Relation.objects.create(user=owner, from_memory=one, to_memory=other, type="derived_from", strength=1)
    dont_keep(owner, memory)
    gone = dict(Memory.objects.filter(user=owner).values_list("pk", "deleted_why"))
    assert gone == {memory.pk: "rejected", told.pk: "withheld", merged_one.pk: "withheld", unrelated.pk: ""}
    rev = Ledger.objects.get(pk=owner.pk).rev
    assert not undo(me(owner), rev, rev).left
    assert set(Memory.objects.filter(user=owner).values_list("state", flat=True)) == {"active"}


@pytest.mark.parametrize("way", ["delete", "page", "bulk"])
def test_a_delete_by_the_person_withholds_and_a_bulk_delete_does_not(owner, way):
    conversation = say(owner, SAID)
    memory = learned(owner, conversation)
    if way == "delete":
        memory_archive(me(owner), memory.pk)
    elif way == "page":
        memories_decide(me(owner), {memory.pk: None}, "archive", reason=RejectionReason.DONT_KEEP)
    else:
        memories_decide(me(owner), {memory.pk: None}, "archive")
    assert (CELLO in record(conversation)[0]) == (way == "bulk")


def test_a_declined_message_is_withheld_and_released_again(owner):
    conversation = say(owner, SAID, ECHO)
    message_decline(me(owner), conversation.pk, 0)
    assert record(conversation)[0] == MARK
    message = message_release(me(owner), conversation.pk, 0)
    assert not message.declined
    assert message.reading_due
    assert record(conversation) == [SAID, ECHO]


def test_my_fact_takes_my_words_and_another_members_stay(owner, member, legacy):
    words = "She sailed her own boat."
    mine, theirs = (say(person, words, legacy=legacy) for person in (owner, member))
    fact = factories.LegacyFactFactory(
        legacy=legacy, user=owner, content="She sailed her own boat.", visibility="shared"
    )
    FactEvidence.objects.create(fact=fact, message=mine.messages.get(), quote=words)
    fact_reject(me(owner), fact.pk, RejectionReason.DONT_KEEP)
    assert (record(mine), record(theirs)) == ([MARK], [words])
    assert LegacyFact.objects.get(pk=fact.pk).visibility == "private"
    fact_restore(me(owner), fact.pk)
    assert record(mine) == [words]
    fact_delete(me(owner), fact.pk)
    assert record(mine) == [MARK]


def test_another_sentence_of_the_message_that_says_it_goes_too(owner):
    conversation = say(owner, f"{CELLO} It rains. As I said, I have played the cello in an orchestra since 2011.")
    dont_keep(owner, learned(owner, conversation))
    assert record(conversation) == [f"{MARK} It rains. {MARK}"]


def test_words_are_found_whatever_their_case(owner):
    conversation = say(owner, "I AM BANKRUPT. I like tea. I am bankrupt since May.")
    passages_withhold(me(owner), [PassagePlace(conversation.pk, 0, "I am bankrupt")])
    assert record(conversation) == [f"{MARK} I like tea. {MARK}"]


def test_a_reply_that_was_on_its_way_does_not_bring_the_words_back(owner):
    conversation = say(owner, SAID)
    memory = learned(owner, conversation)
    dont_keep(owner, memory)
    messages_append(me(owner), conversation.pk, [NewMessage("assistant", ECHO), NewMessage("assistant", "Shall we?")])
    assert record(conversation)[1:] == [f"{MARK} Let us begin.", "Shall we?"]
    memory_restore(me(owner), memory.pk)
    assert record(conversation) == [SAID, ECHO, "Shall we?"]


# --- What follows ------------------------------------------------------------------------------------------------


def test_echoes_are_looked_for_before_the_lock_and_once_only(owner, monkeypatch):
    talk = say(owner, SAID, *[f"You said that you play the cello, {number}." for number in range(30)])
    memory, planned, locked = learned(owner, talk), [], []
    plan, lock = withholding._make_plan, transitions.memory_write
    monkeypatch.setattr(
        withholding, "_make_plan", lambda *args, **kwargs: planned.append(bool(locked)) or plan(*args, **kwargs)
    )
    monkeypatch.setattr(transitions, "memory_write", lambda *args, **kwargs: locked.append(1) or lock(*args, **kwargs))
    dont_keep(owner, memory)
    assert (planned, locked) == ([False], [1])
    assert CELLO not in "".join(record(talk))


@pytest.mark.parametrize("alone", [True, False], ids=["quiet", "somebody speaks meanwhile"])
def test_a_no_in_talk_looks_for_echoes_before_the_lock_and_again_only_if_somebody_spoke(owner, monkeypatch, alone):
    talk = say(owner, SAID, *[f"You said that you play the cello, {number}." for number in range(9)], title="My cello")
    planned, locked = [], []
    plan, lock = withholding._make_plan, record_actions.ledger_write

    def locking(*args, **kwargs):
        if not (alone or locked):
            locked.append("meanwhile")
            messages_append(me(owner), talk.pk, [NewMessage("assistant", "How lovely that you play the cello.")])
        locked.append(1)
        return lock(*args, **kwargs)

    monkeypatch.setattr(
        withholding, "_make_plan", lambda *args, **kwargs: planned.append(bool(locked)) or plan(*args, **kwargs)
    )
    monkeypatch.setattr(record_actions, "ledger_write", locking)
    (no,) = messages_append(me(owner), talk.pk, [NewMessage("user", "Please forget that I play the cello.")])
    assert planned == ([False] if alone else [False, True])
    assert "cello" not in "".join(record(talk))
    assert "cello" not in no.content
    assert Conversation.objects.get(pk=talk.pk).title == MARK
    last = Change.objects.filter(ledger_id=owner.pk).latest("rev").rev
    undo(me(owner), last, last)
    assert CELLO in record(talk)[0]


@pytest.mark.parametrize("late", ["How lovely that you play the cello.", "It is raining."], ids=["an echo", "no echo"])
def test_what_is_said_between_the_look_for_echoes_and_the_lock_is_not_lost(owner, monkeypatch, late):
    talk = say(owner, SAID, ECHO)
    memory, lock = learned(owner, talk), transitions.memory_write

    def after_somebody_spoke(*args, **kwargs):
        messages_append(me(owner), talk.pk, [NewMessage("assistant", late)])
        return lock(*args, **kwargs)

    monkeypatch.setattr(transitions, "memory_write", after_somebody_spoke)
    dont_keep(owner, memory)
    said = record(talk)
    assert "cello" not in "".join(said)
    assert len(said) == 3
    assert ("It is raining." in said[2]) == (late == "It is raining.")


def test_an_echo_that_was_rewritten_after_the_look_for_echoes_is_read_again(owner, monkeypatch):
    talk = say(owner, SAID, f"{ECHO} Bring tea.")
    memory, lock = learned(owner, talk), transitions.memory_write

    def after_another_no(*args, **kwargs):
        passages_withhold(me(owner), [PassagePlace(talk.pk, 1, "Bring tea.")])
        return lock(*args, **kwargs)

    monkeypatch.setattr(transitions, "memory_write", after_another_no)
    dont_keep(owner, memory)
    assert "tea" not in "".join(record(talk))
    assert "cello" not in "".join(record(talk))
    memory_restore(me(owner), memory.pk)
    assert "tea" not in record(talk)[1]
    assert "cello" in record(talk)[1]


def test_search_text_tokens_counts_title_and_quotes_change_at_once(owner):
    conversation = say(owner, SAID, title="The cello in the orchestra")
    messages_index(conversation.pk)
    memory, other = learned(owner, conversation), learned(owner, conversation, "The user is musical.")
    before = Ledger.objects.get(pk=owner.pk).turn_terms
    dont_keep(owner, memory)
    message = Message.objects.get(conversation=conversation)
    assert "cello" not in message.search_text
    assert message.embedding is None
    assert Ledger.objects.get(pk=owner.pk).turn_terms == message.search_length < before
    assert Conversation.objects.get(pk=conversation.pk).title == MARK
    assert set(MemoryEvidence.objects.filter(message=message).values_list("quote", flat=True)) == {MARK}
    assert Memory.objects.get(pk=other.pk).state == "active"


def test_nothing_that_an_agent_is_given_says_it_any_more(owner, api):
    conversation = say(owner, SAID, ECHO, title="My cello")
    memory = learned(owner, conversation)
    summed_up(owner, conversation, "They spoke of the cello.")
    messages_index(conversation.pk)
    dont_keep(owner, memory)
    client = api(owner)
    for place in (f"{conversation.pk}/messages/", f"{conversation.pk}/chunks/", f"{conversation.pk}/", ""):
        assert "cello" not in client.get(f"/api/v1/conversations/{place}").content.decode()
    question = {"query": "Which instrument does the user play?", "sources": ["memories", "chunks", "turns"]}
    assert "cello" not in client.post("/api/v1/memories/query/", question, format="json").content.decode()
    running = factories.ConversationFactory(user=owner)
    for asked in (running, conversation):
        made = prepare_turn(me(owner), asked.pk, "Which instrument do I play?")
        assert "cello" not in json.dumps([made.system, made.messages], default=str)


@pytest.mark.parametrize("who", ["owner", "agent"])
def test_clients_that_keep_a_copy_are_told(owner, agent, api, who):
    conversation = say(owner, SAID, agent=agent)
    before = Ledger.objects.get(pk=owner.pk).rev
    dont_keep(owner, learned(owner, conversation))
    told = api(owner if who == "owner" else agent).get(f"/api/v1/changes/?after={before}").json()["results"]
    message = Message.objects.get(conversation=conversation)
    assert ("WITHHOLD", "message", str(message.pk)) in [(r["event"], r["object_type"], r["object"]) for r in told]
    assert "cello" not in json.dumps(told)


def test_they_are_told_of_a_title_and_when_it_is_restored(owner, agent, api):
    """Only its first message was named, which may say nothing of it."""
    conversation = say(owner, "Good morning.", agent=agent, title="My cello")
    first = Ledger.objects.get(pk=owner.pk).rev

    def told(after):
        rows = api(agent).get(f"/api/v1/changes/?after={after}").json()["results"]
        return [(row["event"], row["object"]) for row in rows if row["object_type"] == "conversation"]

    passages_withhold(me(owner), [PassagePlace(conversation.pk, None, "")])
    assert told(first) == [("WITHHOLD", str(conversation.pk))]
    second = Ledger.objects.get(pk=owner.pk).rev
    withheld_restore(me(owner), Withheld.objects.get().pk)
    assert told(second) == [("GIVE_BACK", str(conversation.pk))]


def test_a_summary_is_hidden_at_once_and_written_anew_from_what_is_left(owner):
    conversation = say(owner, SAID, ECHO)
    chunk = summed_up(owner, conversation, "They spoke of the cello.")
    dont_keep(owner, learned(owner, conversation))
    assert not ConversationChunk.objects.visible_to(me(owner)).exists()
    learned_before = Memory.objects.filter(user=owner).count()
    assert rewrite_chunks(conversation.pk) == 1
    chunk = ConversationChunk.objects.visible_to(me(owner)).get(pk=chunk.pk)
    assert "cello" not in f"{chunk.content} {chunk.search_text}"
    assert (chunk.message_range_start, chunk.message_range_end) == (0, 2)
    assert Memory.objects.filter(user=owner).count() == learned_before
    assert Ledger.objects.get(pk=owner.pk).chunk_terms == chunk.search_length
    assert rewrite_chunks(conversation.pk) == 0


def test_a_hidden_summary_is_in_no_export_and_a_file_made_before_is_gone(owner):
    conversation = say(owner, SAID, ECHO)
    summed_up(owner, conversation, "They spoke of the cello.")
    memory = learned(owner, conversation)
    before = export_begin(me(owner)).pk
    run_export(before)
    dont_keep(owner, memory)
    assert not Export.objects.filter(pk=before).exists()
    run_export(export_begin(me(owner)).pk)
    archive = b"".join(bytes(part.data) for part in ExportPart.objects.order_by("number"))
    with zipfile.ZipFile(io.BytesIO(archive)) as held:
        told = {name: held.read(name).decode() for name in held.namelist()}
    assert not [name for name, text in told.items() if "cello" in text and "memor" not in name]


def test_with_the_model_away_the_sentences_go_that_share_its_words(owner, monkeypatch):
    conversation = say(owner, SAID, ECHO)
    chunk = summed_up(owner, conversation, "They said good morning. The user plays a cello! It began at nine.")
    dont_keep(owner, learned(owner, conversation))

    def away(*_):
        raise ModelUnavailable("away")

    monkeypatch.setattr("assistant.learn.rewriting.summarize_part", away)
    assert rewrite_chunks(conversation.pk) == 1
    chunk.refresh_from_db()
    assert chunk.content == "They said good morning. It began at nine."
    # It is found again until a model is there.
    assert sweep()["hidden"] == 1
    assert rewrite_chunks(conversation.pk) == 0
    monkeypatch.undo()
    assert rewrite_chunks(conversation.pk) == 1
    chunk.refresh_from_db()
    assert chunk.content != "They said good morning. It began at nine."
    assert "cello" not in chunk.content
    assert sweep()["hidden"] == 0


def test_a_vector_made_of_the_words_before_is_not_stored(owner, monkeypatch):
    conversation = say(owner, SAID)
    memory = learned(owner, conversation)
    embedder = get_embedder()
    embed = embedder.embed_passages

    def meanwhile(texts):
        if CELLO in texts[0]:
            dont_keep(owner, memory)
        return embed(texts)

    monkeypatch.setattr(type(embedder), "embed_passages", lambda self, texts: meanwhile(texts))
    messages_index(conversation.pk)
    (wanted,) = embed([f"{timezone.now():%-d %B %Y}: {record(conversation)[0]}"])
    assert np.asarray(Message.objects.get(conversation=conversation).embedding) @ wanted > 0.99


def test_an_import_that_is_run_again_brings_nothing_back(owner):
    at = timezone.now()
    conversation = factories.ConversationFactory(user=owner, channel="jsonl", external_id="a")
    messages_append(me(owner), conversation.pk, [NewMessage("user", SAID, at=at), NewMessage("assistant", ECHO, at=at)])
    dont_keep(owner, learned(owner, conversation))
    said = (NewMessage("user", SAID, at=at), NewMessage("assistant", ECHO, at=at), NewMessage("user", "More.", at=at))
    parsed = ParsedConversation("a", "", said)
    step = plan_step(me(owner), parsed, channel="jsonl", legacy_id=None)
    assert (step.missing, step.objection) == (1, "")
    Withheld.objects.update(erase_at=at)
    withheld_erase()
    assert plan_step(me(owner), parsed, channel="jsonl", legacy_id=None).missing == 1
    other = ParsedConversation("a", "", (NewMessage("user", f"{SAID}!", at=at), *said[1:]))
    assert plan_step(me(owner), other, channel="jsonl", legacy_id=None).objection


def brought(person, external_id="a"):
    """What an import makes of the talk."""
    said = (NewMessage("user", SAID), NewMessage("assistant", ECHO))
    parsed = ParsedConversation(external_id, "My cello", said)
    step = plan_step(me(person), parsed, channel="jsonl", legacy_id=None)
    assert sum(append_step(me(person), step, channel="jsonl", legacy_id=None)) == step.missing
    return Conversation.objects.get(external_id=external_id)


def test_an_import_that_was_undone_and_is_run_again_brings_nothing_back(owner):
    conversation = brought(owner)
    memory = learned(owner, conversation)
    dont_keep(owner, memory)
    left = record(conversation)
    with ledger_write(me(owner).actor, owner.pk) as write:
        conversation_remove(write, conversation)
    assert not Withheld.objects.exclude(text="").exists()
    again = brought(owner)
    assert (record(again), MARK in left[0], MARK in left[1]) == (left, True, True)
    # Given back, it may come again.
    memory_restore(me(owner), memory.pk)
    assert record(again) == [SAID, ECHO]
    assert record(brought(owner, "b")) == [SAID, ECHO]


def test_the_same_talk_under_another_id_brings_nothing_back(owner, stranger):
    conversation = brought(owner)
    dont_keep(owner, learned(owner, conversation))
    assert record(brought(owner, "b")) == record(conversation)
    assert record(brought(stranger, "c")) == [SAID, ECHO]
    # Whoever says it again, says it.
    assert record(say(owner, SAID))[0] == SAID


def test_a_title_that_an_import_or_an_agent_brings_does_not_say_it_again(owner, agent, api):
    talk = say(owner, SAID, ECHO)
    dont_keep(owner, learned(owner, talk))
    other = ParsedConversation("b", "The cello in the orchestra", (ParsedMessage("user", "Good evening."),))
    step = plan_step(me(owner), other, channel="import", legacy_id=None)
    assert sum(append_step(me(owner), step, channel="import", legacy_id=None)) == 1
    assert Conversation.objects.get(external_id="b").title == ""
    client = api(agent.credential)
    answer = client.post("/api/v1/conversations/", {"title": "Plays the cello, orchestra"})
    assert (answer.status_code, answer.json()["code"]) == (422, "rejected_before")
    assert client.post("/api/v1/conversations/", {"title": "Music lessons"}).status_code == 201
    assert api(owner).post("/api/v1/conversations/", {"title": "My cello in the orchestra"}).status_code == 201


def test_metadata_does_not_say_again_what_was_refused(owner, agent, api):
    memory, beside = remember(owner, "The user plays the cello.", "The user likes tea.")
    dont_keep(owner, memory)
    client = api(agent.credential)
    told = {"content": "The user bakes bread.", "metadata": {"notes": ["The user plays the cello."]}}
    new = client.post("/api/v1/memories/", {**told, "category": "interests"}, format="json")
    assert (new.status_code, new.json()["code"]) == (422, "rejected_before")
    asked = {"content": "The user likes green tea.", "metadata": {"of": "plays the cello"}}
    edit = client.put(f"/api/v1/memories/{beside.pk}/", asked, format="json")
    assert (edit.status_code, edit.json()["code"]) == (422, "rejected_before")
    filed = client.patch(f"/api/v1/memories/{beside.pk}/", {"metadata": {"of": "plays the cello"}}, format="json")
    assert (filed.status_code, filed.json()["code"]) == (422, "rejected_before")


@pytest.mark.parametrize("reason", ["dont_keep", "not_true"])
def test_what_was_rejected_does_not_come_back_as_a_name(owner, agent, api, reason):
    """Of legacies and places, in notes and metadata; a title says again only what is not to be kept."""
    debts, beside = remember(owner, "The user has debts with his brother Karl.", "The user likes tea.")
    memory_reject(me(owner), debts.pk, reason)
    person, client = api(owner), api(agent)
    kept = client.post("/api/v1/legacies/", {"name": "Karl"}, format="json").json()["id"]
    said = "Debts with brother Karl"
    sent = [
        ("post", "legacies/", {"name": said}),
        ("patch", f"legacies/{kept}/", {"name": said}),
        ("post", "places/", {"place_id": "a", "name": said}),
        ("post", "places/", {"place_id": "b", "name": "Bank", "notes": f"{said}."}),
        ("patch", f"memories/{beside.pk}/", {"metadata": {"note": f"{said} again"}}),
    ]
    if reason == "dont_keep":
        sent.append(("post", "conversations/", {"title": said}))
    for method, path, body in sent:
        answer = getattr(client, method)(f"/api/v1/{path}", body, format="json")
        assert (answer.status_code, answer.json()["code"]) == (422, "rejected_before"), (path, body)
    assert client.post("/api/v1/legacies/", {"name": "Karl's workshop"}, format="json").status_code == 201
    assert person.post("/api/v1/legacies/", {"name": said}, format="json").status_code == 201


def test_a_place_that_the_person_took_away_does_not_come_back_under_another_id(owner, agent, api):
    client, body = api(agent), {"place_id": "gym", "name": "Gym of Saint Ann"}
    gym = place_add(me(owner), "gym", "Gym of Saint Ann").place
    assert api(owner).delete(f"/api/v1/places/{gym.pk}/").status_code == 204
    for again in ({**body, "place_id": "other"}, {"place_id": "third", "name": "Old gym of Saint Ann"}):
        answer = client.post("/api/v1/places/", again, format="json")
        assert (answer.status_code, answer.json()["code"]) == (422, "rejected_before")
    assert client.post("/api/v1/places/", {"place_id": "x", "name": "Saint Ann"}, format="json").status_code == 201
    mine = place_add(me(owner), "mine", body["name"]).place
    assert client.patch(f"/api/v1/places/{mine.pk}/", {"notes": "Open late"}, format="json").status_code == 202


def test_a_plan_that_would_say_it_is_dropped(owner, monkeypatch):
    cello, tea, bees = remember(owner, "The user plays the cello.", "The user drinks tea.", "The user keeps bees.")
    way = Scripted()
    monkeypatch.setattr("memories.actions.optimizing.find_strategy", lambda name: way)
    way.say("The user plays the cello and drinks tea.", cello, tea)
    way.say("The user keeps many bees.", bees)
    plan = optimize_plan(me(owner))
    assert plan.items.count() == 1
    memory_reject(me(owner), cello.pk)
    item = plan.items.get()
    assert (item.state, item.reason, item.content) == ("skipped", "gone", "")
    optimize_apply(me(owner), plan.pk)
    assert Memory.objects.get(pk=tea.pk).state == "active"


def test_my_shared_fact_on_words_withheld_for_a_memory_is_unshared(owner, legacy):
    conversation = say(owner, f"{CELLO} Rosa taught me.", legacy=legacy)
    message = conversation.messages.get()
    shared = {"legacy": legacy, "user": owner, "visibility": "shared"}
    cello = factories.LegacyFactFactory(**shared, content="She taught cello.")
    taught = factories.LegacyFactFactory(**shared, content="She taught.")
    FactEvidence.objects.create(fact=cello, message=message, quote=CELLO)
    FactEvidence.objects.create(fact=taught, message=message, quote="Rosa taught me.")
    rev = Ledger.objects.get(pk=legacy.pk).rev
    dont_keep(owner, learned(owner, conversation))
    assert list(LegacyFact.objects.filter(visibility="shared")) == [taught]
    assert Ledger.objects.get(pk=legacy.pk).rev > rev
    last = Change.objects.filter(ledger_id=owner.pk).latest("rev").rev
    undo(me(owner), last, last)
    assert LegacyFact.objects.filter(visibility="shared").count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_shared_fact_of_a_legacy_that_is_written_to_is_unshared_right_after(owner, legacy, monkeypatch):
    conversation = say(owner, CELLO, legacy=legacy)
    fact = factories.LegacyFactFactory(legacy=legacy, user=owner, visibility="shared", content="She taught cello.")
    FactEvidence.objects.create(fact=fact, message=conversation.messages.get(), quote=CELLO)
    later = []
    monkeypatch.setattr("facts.actions.transitions.enqueue", lambda task, pk: later.append((task, pk)))
    monkeypatch.setattr("journal.actions.LedgerWrite.try_lock_ledger", lambda *_: False)
    dont_keep(owner, learned(owner, conversation))
    assert later == [("facts.unshare_withheld", fact.pk)]
    fact_unshare_withheld(fact.pk)
    fact_unshare_withheld(fact.pk)
    assert LegacyFact.objects.get(pk=fact.pk).visibility == "private"
    assert Change.objects.filter(ledger_id=legacy.pk, event="UNSHARE").count() == 1


def test_notes_of_a_place_don_t_say_again_what_was_refused(owner, agent, api):
    (memory,) = remember(owner, "The user owns a small sailing boat.")
    dont_keep(owner, memory)
    body = {"place_id": "b", "name": "Boat", "notes": "The user owns a small sailing boat."}
    answer = api(agent).post("/api/v1/places/", body, format="json")
    assert (answer.status_code, answer.json()["code"]) == (422, "rejected_before")
    assert api(agent).post("/api/v1/places/", {**body, "notes": "By the lake."}, format="json").status_code == 201


# --- The way back ------------------------------------------------------------------------------------------------


def test_restoring_gives_everything_back_without_a_model(owner):
    conversation = say(owner, SAID, ECHO, title="My cello")
    memory = learned(owner, conversation)
    before = Ledger.objects.get(pk=owner.pk).turn_terms
    dont_keep(owner, memory)
    memory_restore(me(owner), memory.pk)
    assert record(conversation) == [SAID, ECHO]
    assert Conversation.objects.get(pk=conversation.pk).title == "My cello"
    assert MemoryEvidence.objects.get(message__conversation=conversation).quote == CELLO
    assert Ledger.objects.get(pk=owner.pk).turn_terms == before
    assert not Withheld.objects.exists()


def test_words_with_two_causes_come_back_with_the_last(owner):
    conversation = say(owner, SAID, ECHO)
    one, other = learned(owner, conversation), learned(owner, conversation, "The user is in an orchestra.")
    dont_keep(owner, one)
    dont_keep(owner, other)
    assert Withheld.objects.visible_to(me(owner)).restorable().passages().one_per_span().filter(text=CELLO).count() == 1
    memory_restore(me(owner), one.pk)
    assert record(conversation)[0] == f"Good morning! {MARK} Shall we begin?"
    memory_restore(me(owner), other.pk)
    assert record(conversation) == [SAID, ECHO]
    assert set(MemoryEvidence.objects.values_list("quote", flat=True)) == {CELLO}


def test_undo_and_undoing_that(owner):
    conversation = say(owner, SAID, ECHO)
    memory = learned(owner, conversation)
    first = Ledger.objects.get(pk=owner.pk).rev + 1
    dont_keep(owner, memory)
    undone = undo(me(owner), first, first)
    assert not undone.left
    assert record(conversation) == [SAID, ECHO]
    assert Memory.objects.get(pk=memory.pk).state == "active"
    assert not undo(me(owner), undone.first, undone.last).left
    assert record(conversation) == [f"Good morning! {MARK} Shall we begin?", f"{MARK} Let us begin."]
    assert Memory.objects.get(pk=memory.pk).state == "rejected"


def test_after_its_days_the_words_are_gone_for_good(owner):
    conversation = say(owner, SAID)
    memory = learned(owner, conversation)
    dont_keep(owner, memory)
    assert withheld_erase() == 0
    Withheld.objects.update(erase_at=timezone.now() - timedelta(seconds=1))
    assert withheld_erase() == Withheld.objects.count()
    memory_restore(me(owner), memory.pk)
    assert MARK in record(conversation)[0]
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(w::text, '') FROM conversations_withheld w")
        assert "cello" not in cursor.fetchone()[0]


def test_a_sentence_beside_erased_words_is_withheld_and_given_back(owner):
    conversation = say(owner, SAID)
    dont_keep(owner, learned(owner, conversation))
    Withheld.objects.update(erase_at=timezone.now())
    withheld_erase()
    (message,) = passages_withhold(me(owner), [PassagePlace(conversation.pk, 0, "Good morning")])
    assert record(conversation) == [f"{MARK} {MARK} Shall we begin?"]
    row = Withheld.objects.get(message=message, cause_type="message", object_type="message")
    withheld_restore(me(owner), row.pk)
    assert record(conversation) == [f"Good morning! {MARK} Shall we begin?"]


def test_what_two_causes_withhold_stays_out_with_its_echo_until_both_are_gone(owner):
    conversation = say(owner, "I have a dog. I hate my boss.", "How nice that you have a dog.")
    dog = learned(owner, conversation, "The user has a dog.", "I have a dog.")
    again = learned(owner, conversation, "The user keeps a dog.", "I have a dog.")
    boss, other = (
        learned(owner, conversation, f"The user hates {who}.", "I hate my boss.") for who in ("a boss", "bosses")
    )
    for memory in (dog, boss, again, other):
        dont_keep(owner, memory)
    assert record(conversation) == [f"{MARK} {MARK}", MARK]
    for memory in (dog, boss):
        memory_restore(me(owner), memory.pk)
        assert record(conversation) == [f"{MARK} {MARK}", MARK]
    memory_restore(me(owner), other.pk)
    assert record(conversation) == [f"{MARK} I hate my boss.", MARK]
    memory_restore(me(owner), again.pk)
    assert record(conversation)[1] == "How nice that you have a dog."


def test_an_agent_s_restore_brings_no_refused_words_back(owner, agent):
    conversation = say(owner, SAID)
    memory = learned(owner, conversation)
    Conversation.objects.update(agent=agent)
    Memory.objects.update(reviewed_at=timezone.now(), written_by="model")
    bot = factories.agent_principal(agent)
    message = Message.objects.get(conversation=conversation)
    cautious = replace(bot, review="before")
    change = memory_update(cautious, memory.pk, "The user hates the cello.", message_id=message.pk)
    proposal_reject(me(owner), change.proposal.pk, RejectionReason.DONT_KEEP)
    assert CELLO not in record(conversation)[0]
    assert Memory.objects.get(pk=memory.pk).state == "active"
    memory_archive(bot, memory.pk)
    with pytest.raises(NotFound):
        memory_restore(bot, memory.pk)
    assert CELLO not in record(conversation)[0]


def test_what_was_erased_takes_nothing_else_with_it(owner):
    conversation = say(owner, "I have a dog. I have a cat.")
    dog, twin = (learned(owner, conversation, f"The user has {what}.", "I have a dog.") for what in ("a dog", "dogs"))
    cat = learned(owner, conversation, "The user has a cat.", "I have a cat.")
    dont_keep(owner, dog)
    Withheld.objects.update(erase_at=timezone.now())
    withheld_erase()
    dont_keep(owner, twin)
    assert record(conversation) == [f"{MARK} I have a cat."]
    dont_keep(owner, cat)
    assert "cat" not in record(conversation)[0]
    memory_restore(me(owner), cat.pk)
    assert "I have a cat." in record(conversation)[0]


def test_a_decline_holds_whatever_withheld_the_words_before(owner):
    conversation = say(owner, CELLO)
    memory = learned(owner, conversation)
    dont_keep(owner, memory)
    message_decline(me(owner), conversation.pk, 0)
    memory_restore(me(owner), memory.pk)
    assert record(conversation) == [MARK]
    assert Message.objects.get(conversation=conversation).declined


def test_only_the_agent_that_talks_there_declines_for_the_person(owner, agent):
    conversation = say(owner, SAID)
    with pytest.raises(NotYoursToDecide):
        message_decline(factories.agent_principal(agent), conversation.pk, 0)
    assert record(conversation) == [SAID]


def test_a_message_that_its_marks_would_make_too_long_is_withheld_whole(owner):
    conversation = say(owner, f"No! {'x' * 31_990}")
    dont_keep(owner, learned(owner, conversation, quote="No!"))
    assert record(conversation) == [MARK]


def test_a_give_back_is_undone_also_when_the_quotation_is_gone(owner):
    conversation = say(owner, SAID)
    memory = learned(owner, conversation)
    dont_keep(owner, memory)
    memory_restore(me(owner), memory.pk)
    MemoryEvidence.objects.all().delete()
    rev = Ledger.objects.get(pk=owner.pk).rev
    undo(me(owner), rev, rev)
    assert CELLO not in record(conversation)[0]


@pytest.mark.parametrize("about", ["fact-1", "foo-1", "memory-a b"])
def test_a_page_about_nothing_is_no_error(client, owner, about):
    client.force_login(owner)
    assert client.get(f"/withheld/?about={about}").status_code in {200, 404}


# --- Elsewhere ---------------------------------------------------------------------------------------------------


def test_what_was_said_elsewhere_is_offered_and_withheld_at_one_press(owner, api):
    conversation = say(owner, SAID)
    memory = learned(owner, conversation)
    elsewhere = say(owner, "My orchestra lets me play the cello alone.", "Splendid.", "I play chess, too.")
    client = api(owner)
    answer = client.post(f"/api/v1/memories/{memory.pk}/reject/", {"reason": "dont_keep"}, format="json")
    also = [{"conversation": str(elsewhere.pk), "index": 0, "quote": "My orchestra lets me play the cello alone."}]
    (found,) = answer.json()["also_said"]
    message = str(elsewhere.messages.get(index=0).pk)
    assert found == {**also[0], "object_type": "message", "object": message, "surely": True}
    made = client.post("/api/v1/withheld/", {"passages": also}, format="json")
    assert record(elsewhere) == [MARK, "Splendid.", "I play chess, too."]
    memory_restore(me(owner), memory.pk)
    assert record(elsewhere)[0] == MARK
    assert client.delete(f"/api/v1/withheld/{made.json()['withheld'][0]['id']}/").status_code == 204
    assert record(elsewhere)[0] == "My orchestra lets me play the cello alone."


@pytest.mark.parametrize("role", ["tool", "system"])
def test_what_a_program_wrote_elsewhere_is_offered_too(owner, role):
    (memory,) = remember(owner, "The user plays the cello in an orchestra.")
    told = json.dumps({"saved": "The user plays the cello in an orchestra."})
    messages_append(me(owner), factories.ConversationFactory(user=owner).pk, [NewMessage(role, told)])
    assert also_kept(owner, memory) == {"message": (told, True)}


def test_a_question_with_the_same_words_is_offered_and_not_ticked(owner):
    (memory,) = remember(owner, "The user plays the cello in an orchestra.")
    say(owner, "Does my orchestra let me play the cello?")
    assert also_kept(owner, memory) == {"message": ("Does my orchestra let me play the cello?", False)}


def also_kept(person, memory):
    """What is offered elsewhere, by what it is: its words, and whether they are surely the same."""
    return {each.object_type: (each.quote, each.surely) for each in queries.also_said(me(person), memory.pk)}


def test_titles_memories_own_facts_and_notes_of_places_that_say_the_same_are_offered(owner, member, legacy):
    memory, again = remember(
        owner, "The user plays the cello in an orchestra.", "In an orchestra the user plays the cello."
    )
    talk = say(owner, "Hello.", title="Playing the cello in an orchestra")
    factories.LegacyFactFactory(user=owner, legacy=legacy, content="Lina heard her play the cello in an orchestra.")
    factories.LegacyFactFactory(user=member, legacy=legacy, content="She played the cello in an orchestra, too.")
    place_add(me(owner), "hall", "Town hall", "Near the river. Plays the cello there in an orchestra.")
    place_add(me(owner), "pool", "Pool", "Swims there.")
    remember(owner, "The user likes tea.")
    assert also_kept(owner, memory) == {
        "title": (talk.title, True),
        "memory": (again.content, True),
        "fact": ("Lina heard her play the cello in an orchestra.", False),
        "place": ("Plays the cello there in an orchestra.", True),
    }


def test_what_is_chosen_of_it_goes_at_one_press_and_comes_back_by_one_undo(owner, legacy, client):
    memory, again = remember(owner, "The user plays the cello in an orchestra.", "The user plays cello.")
    talk = say(owner, "Hello.", title="Playing the cello in an orchestra")
    fact = factories.LegacyFactFactory(user=owner, legacy=legacy, content="Lina heard him play cello in an orchestra.")
    hall = place_add(me(owner), "hall", "Town hall", "Near the river. Plays the cello in an orchestra.").place
    stage = place_add(me(owner), "stage", "Cello stage of the orchestra").place
    client.force_login(owner)
    dont_keep(owner, memory)
    offered = queries.also_said(me(owner), memory.pk)
    keys = [f"{each.object_type}-{each.object_id}" for each in offered]
    page = client.get("/withheld/", {"about": f"memory-{memory.pk}"}).content.decode()
    assert all(f'value="{key}"' in page for key in keys)
    pressed = client.post(f"/withheld/also/memory/{memory.pk}/", {"also": keys}, follow=True)
    for row in (again, talk, fact, hall, stage):
        row.refresh_from_db()
    assert (again.state, talk.title, fact.state) == ("rejected", MARK, "rejected")
    assert (hall.notes, stage.deleted_at is None) == ("Near the river.", False)
    (undo_address,) = [each.extra_tags for each in pressed.context["messages"]]
    client.post(undo_address)
    for row in (again, talk, fact, hall, stage):
        row.refresh_from_db()
    assert (again.state, talk.title, fact.state) == ("active", "Playing the cello in an orchestra", "active")
    assert (hall.notes, stage.deleted_at) == ("Near the river. Plays the cello in an orchestra.", None)


def test_undoing_what_took_several_steps_leaves_what_a_worker_learned_between_them(owner, agent, client, monkeypatch):
    """An undo from a page takes back the person's own decision, and nothing that somebody else did meanwhile."""
    memory, again = remember(owner, "The user plays the cello in an orchestra.", "The user plays cello.")
    talk = say(owner, "Hello.", title="Playing the cello in an orchestra")
    client.force_login(owner)
    dont_keep(owner, memory)
    keys = [f"{each.object_type}-{each.object_id}" for each in queries.also_said(me(owner), memory.pk)]
    withhold = withheld_pages.passages_withhold

    def while_a_worker_learns(*args):
        withhold(*args)
        with watch_revisions(None):  # Another process watches nothing of this.
            factories.MemoryFactory(user=owner, agent=agent, content="The user keeps bees.")

    monkeypatch.setattr(withheld_pages, "passages_withhold", while_a_worker_learns)
    pressed = client.post(f"/withheld/also/memory/{memory.pk}/", {"also": keys}, follow=True)
    (undo_address,) = [each.extra_tags for each in pressed.context["messages"]]
    client.post(undo_address)
    for row in (again, talk):
        row.refresh_from_db()
    assert (again.state, talk.title) == ("active", "Playing the cello in an orchestra")
    assert Memory.objects.get(content="The user keeps bees.").state == "active"


def test_a_title_is_withheld_over_rest_by_the_index_null(owner, api):
    talk = say(owner, "Hello.", title="My divorce")
    body = {"passages": [{"conversation": str(talk.pk), "index": None}]}
    assert api(owner).post("/api/v1/withheld/", body, format="json").status_code == 201
    talk.refresh_from_db()
    assert talk.title == MARK


def test_a_memory_without_a_message_behind_it_offers_where_it_was_said(owner, api):
    conversation = say(owner, CELLO)
    memory = memory_add(me(owner), NewMemory("The user plays the cello in an orchestra.", "context")).memory
    answer = api(owner).post(f"/api/v1/memories/{memory.pk}/reject/", {"reason": "dont_keep"}, format="json")
    assert [each["conversation"] for each in answer.json()["also_said"]] == [str(conversation.pk)]
    assert record(conversation) == [CELLO]


def test_only_who_decides_sees_and_changes_what_is_withheld(owner, stranger, agent, api):
    conversation = say(owner, SAID)
    dont_keep(owner, learned(owner, conversation))
    row = Withheld.objects.filter(object_type="message").get()
    body = {"passages": [{"conversation": str(conversation.pk), "index": 0}]}
    key = api(factories.AgentKeyFactory(agent=agent).credential)
    assert key.get("/api/v1/withheld/").json()["results"] == []
    assert key.delete(f"/api/v1/withheld/{row.pk}/").status_code == 403
    assert key.post("/api/v1/withheld/", body, format="json").status_code == 403
    assert api(stranger).delete(f"/api/v1/withheld/{row.pk}/").status_code == 404
    assert api(stranger).post("/api/v1/withheld/", body, format="json").status_code == 404
    (shown,) = api(owner).get("/api/v1/withheld/").json()["results"]
    assert shown["text"] == CELLO
    assert api(owner).delete(f"/api/v1/withheld/{row.pk}/").status_code == 204
    assert record(conversation) == [SAID]
    assert Change.objects.filter(ledger_id=owner.pk, event="GIVE_BACK").exists()


# --- Positions ---------------------------------------------------------------------------------------------------


@given(
    text=st.text(alphabet="ab. [\n", min_size=1, max_size=40),
    spans=st.lists(st.tuples(st.integers(0, 39), st.integers(1, 10)), max_size=6),
    given_back=st.sets(st.integers(0, 5)),
)
def test_a_text_is_known_whole_by_what_is_shown_and_what_was_taken(text, spans, given_back):
    said = Original(text)
    taken = [Span(start, min(start + length, len(text))) for start, length in spans if start < len(text)]
    shown = said.without(taken)
    kept = [(span, said.words(span)) for span in taken]
    assert Original(shown, kept).text == text
    left = [span for number, span in enumerate(taken) if number not in given_back]
    assert Original(shown, kept).without(left) == said.without(left)
    assert Original(said.without(left), [(s, said.words(s)) for s in left]).text == text
    assert merged(merged(taken)) == merged(taken)


ODILE = "My sister Odile has leukaemia."


@pytest.fixture
def odile_withheld(owner):
    conversation = say(owner, ODILE)
    passages_withhold(me(owner), [PassagePlace(conversation.pk, 0, ODILE)])


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (ODILE, 202),
        ("The user's sister Odile has leukaemia.", 202),
        ("The user's sister Odile has leukaemia since 2019.", 202),
        ("The user's sister Odile keeps bees.", 201),
        ("The user keeps bees.", 201),
    ],
)
def test_withheld_words_come_back_as_no_memory_of_an_agent(owner, odile_withheld, api, content, status):
    """Reproduction: they were active, and in the next prompt, if no memory had held them."""
    key = api(factories.AgentKeyFactory(agent=factories.AgentFactory(owner=owner)).credential)
    made = key.post("/api/v1/memories/", {"content": content, "category": "context", "verbatim": content == ODILE})
    assert made.status_code == status, made.json()


def test_an_agent_that_sees_a_part_sees_and_restores_no_withheld_words(owner, odile_withheld, api):
    """Reproduction: it listed and restored those of conversations that it could not read."""
    agent = factories.AgentFactory(owner=owner)
    key = api(factories.AgentKeyFactory(agent=agent, scopes=["read", "write", "admin"]).credential)
    assert len(key.get("/api/v1/withheld/").json()["results"]) == 1
    Grant.objects.filter(agent=agent).update(categories=["preference"], sources=[])
    assert key.get("/api/v1/withheld/").json()["results"] == []
    assert key.delete(f"/api/v1/withheld/{Withheld.objects.get().pk}/").status_code == 404
