"""Withheld words that an agent posts again are withheld on arrival; the person's own voice may say them again."""

import base64

import pytest
from django.utils import timezone

from conversations.models import Conversation, Message, Withheld
from conversations.passages import MARK
from memories.actions import memory_add, memory_reject, memory_restore
from memories.models import MEMORY, Memory
from memories.records import NewMemory
from statements.actions.upkeep import statements_purge
from tests import factories
from tests.assistant.test_erasure import erase
from tests.assistant.test_withholding import CELLO, SAID, dont_keep, learned, me, record, say

pytestmark = pytest.mark.django_db


@pytest.fixture
def withheld(owner):
    """A conversation with the sentence withheld."""
    talk = say(owner, SAID)
    dont_keep(owner, learned(owner, talk))
    return talk


@pytest.fixture
def elsewhere(owner, agent):
    return factories.ConversationFactory(user=owner, agent=agent)


def post(client, talk, *said):
    body = {"messages": [{"role": role, "content": content} for role, content in said]}
    answer = client.post(f"/api/v1/conversations/{talk.pk}/messages/", body, format="json")
    assert answer.status_code == 201, answer.content
    return [message["content"] for message in answer.json()["messages"]]


@pytest.mark.parametrize("role", ["user", "assistant", "tool", "system"])
@pytest.mark.parametrize(
    "content",
    [f"By the way: {CELLO} Really.", "i play the CELLO, in an orchestra", "I play the c\u200bello in an orchestra."],
)
def test_an_agent_that_posts_withheld_words_again_brings_nothing_back(api, agent, withheld, elsewhere, role, content):
    shown = post(api(agent), elsewhere, (role, content), (role, "I play the piano at home."))
    assert MARK in shown[0]
    assert "ello" not in shown[0].lower()
    assert shown == record(elsewhere)
    assert shown[1] == "I play the piano at home."


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("I play the\ncello in an\norchestra.", MARK),
        ("It rains\nI play the\ncello in an orchestra\nbut not today", f"It rains\n{MARK}\nbut not today"),
        ("1 p1ay the ce11o in an 0rchestra.", MARK),
        ("I play the c-e-l-l-o in an orchestra.", MARK),
        ("I... play the... cello... in an orchestra.", MARK),
        ("It rains. I! play! the! cello! in! an! orchestra! Bye.", f"It rains. {MARK} Bye."),
        ("Hello. <b>I</b> <i>play</i> the <b>cel</b>lo in an orchestra. Bye.", f"Hello. {MARK} Bye."),
        ("I%20play%20the%20cello%20in%20an%20orchestra.", MARK),
        ("".join(f"&#{ord(each)};" for each in CELLO), MARK),
        ("Fine." + "".join(chr(0xE0000 + ord(each)) for each in CELLO), MARK),
        (base64.b64encode(CELLO.encode()).decode(), MARK),
        (CELLO.encode().hex(" "), MARK),
        ("- eggs\n- milk\n- the orchestra", "- eggs\n- milk\n- the orchestra"),
        ("I play! The cello is in tune. An orchestra is near.", "I play! The cello is in tune. An orchestra is near."),
        (
            "Read <b>a%20page</b> of &amp; in T3JjaGVzdHJhcyBhcmUgZmluZS4=",
            "Read <b>a%20page</b> of &amp; in T3JjaGVzdHJhcyBhcmUgZmluZS4=",
        ),
    ],
)
def test_line_breaks_marks_and_encodings_hide_it_from_nobody(api, agent, withheld, elsewhere, content, shown):
    """Reproduction: with a line break in it the sentence was stored whole, and recalled."""
    assert post(api(agent), elsewhere, ("user", content)) == [shown]


def test_also_in_the_same_conversation_and_as_a_message_of_other_sentences(api, owner, agent, withheld):
    Conversation.objects.filter(pk=withheld.pk).update(agent=agent)
    (shown,) = post(api(agent), withheld, ("user", f"Hello. {CELLO} Bye now."))
    assert (shown.startswith("Hello."), MARK in shown, "cello" in shown) == (True, True, False)


def test_restoring_gives_back_what_was_posted_again(api, owner, agent, withheld, elsewhere):
    post(api(agent), elsewhere, ("user", CELLO))
    row = Withheld.objects.filter(conversation=elsewhere).get()
    assert api(owner).delete(f"/api/v1/withheld/{row.pk}/").status_code == 204
    assert (record(elsewhere), record(withheld)) == ([CELLO], [SAID])
    assert post(api(agent), elsewhere, ("user", CELLO)) == [CELLO]


def test_the_person_may_say_it_again_themselves(api, owner, withheld, elsewhere):
    assert post(api(owner), elsewhere, ("user", CELLO)) == [CELLO]


def test_nothing_is_withheld_of_others_or_for_short_sentences_and_questions(api, owner, agent, stranger, elsewhere):
    talk = say(owner, "Yes. How are you today? I play the cello.")
    quotes = [{"conversation": str(talk.pk), "index": 0, "quote": word} for word in ("Yes", "today", "cello")]
    api(owner).post("/api/v1/withheld/", {"passages": quotes}, format="json")
    assert record(talk)[0].replace(MARK, "").strip() == ""
    said = "Yes. How are you today?"
    assert post(api(agent), elsewhere, ("user", said)) == [said]
    assert post(api(agent), elsewhere, ("user", "I play the cello.")) == [MARK]
    theirs = factories.ConversationFactory(user=stranger)
    assert post(api(stranger), theirs, ("user", "I play the cello.")) == ["I play the cello."]


def test_what_is_only_not_true_stays_in_the_record(api, owner, agent, elsewhere):
    talk = say(owner, SAID)
    memory_reject(me(owner), learned(owner, talk).pk, "not_true")
    assert post(api(agent), elsewhere, ("user", CELLO)) == [CELLO]
    assert Message.objects.filter(conversation=elsewhere).get().content == CELLO


# --- The same content words --------------------------------------------------------------------------------------

NEIGHBOUR = "My neighbour Paul is an alcoholic and lost his licence."
SUED = "I am being sued by my landlord over the unpaid rent."
MISCARRIAGE = "Maria had a miscarriage in 2019."
POKER = "I play poker on Fridays and lost nine hundred euros."


@pytest.fixture
def maria(owner):
    owner.display_name = "Maria Keller"
    owner.save(update_fields=["display_name"])
    return owner


def withhold(client, talk, quote):
    passages = [{"conversation": str(talk.pk), "index": 0, "quote": quote}]
    assert client.post("/api/v1/withheld/", {"passages": passages}, format="json").status_code == 201


def test_only_the_refused_part_of_a_withheld_sentence(api, owner, agent, elsewhere):
    own = factories.ConversationFactory(user=owner)
    post(api(owner), own, ("user", NEIGHBOUR), ("assistant", "I see."))
    (refusal,) = post(api(owner), own, ("user", "Forget that my neighbour Paul is an alcoholic."))
    assert MARK in refusal
    said = ("My neighbour Paul is an alcoholic.", "Your neighbour Paul is an alcoholic.", "I live next to Paul.")
    shown = post(api(agent), elsewhere, *(("user", each) for each in said))
    assert shown == [MARK, MARK, said[2]]


def test_also_in_a_turn(api, owner, agent, elsewhere):
    withhold(api(owner), say(owner, NEIGHBOUR), "alcoholic")
    body = {"content": "My neighbour Paul is an alcoholic.", "save": True}
    answer = api(agent).post(f"/api/v1/conversations/{elsewhere.pk}/turn/", body, format="json")
    assert (answer.status_code, record(elsewhere)) == (200, [MARK])


@pytest.mark.parametrize(
    ("role", "content"),
    [
        ("user", "I'm being sued by my landlord over the unpaid rent."),
        ("user", "I am being sued by my landlord over unpaid rent."),
        ("assistant", "You are being sued by your landlord over the unpaid rent."),
        ("tool", "Maria is being sued by her landlord over the unpaid rent."),
        ("system", "The user is being sued by their landlord over the unpaid rent."),
    ],
)
def test_small_changes_of_a_withheld_sentence(api, maria, agent, elsewhere, role, content):
    withhold(api(maria), say(maria, SUED), "sued")
    assert post(api(agent), elsewhere, (role, content)) == [MARK]


@pytest.mark.parametrize(
    "content",
    [
        "I am not being sued by my landlord over the unpaid rent.",
        "Karl is being sued by his landlord over the unpaid rent.",
        "I am being sued by my 2 landlords over the unpaid rent.",
        "I pay my rent.",
    ],
)
def test_another_name_number_or_negation_is_kept(api, maria, agent, elsewhere, content):
    withhold(api(maria), say(maria, SUED), "sued")
    assert post(api(agent), elsewhere, ("user", content)) == [content]


def test_what_a_rejected_memory_without_a_message_says(api, maria, agent, elsewhere):
    memory = memory_add(me(maria), NewMemory(MISCARRIAGE, "context")).memory
    memory_reject(me(maria), memory.pk, "dont_keep")
    said = [("user", "I had a miscarriage in 2019."), ("assistant", f"Noted. {MISCARRIAGE}"), ("user", "It rained.")]
    shown = post(api(agent), elsewhere, *said)
    assert shown == [MARK, f"Noted. {MARK}", "It rained."]
    found = api(agent).post("/api/v1/memories/query/", {"query": "miscarriage", "sources": ["turns"]}, format="json")
    assert "miscarriage" not in found.content.decode()
    memory_restore(me(maria), memory.pk)
    assert record(elsewhere) == [said[0][1], said[1][1], "It rained."]
    assert post(api(agent), elsewhere, said[0]) == [said[0][1]]


@pytest.mark.parametrize("purged", [False, True])
def test_what_a_short_rejected_memory_says_in_the_first_or_second_person(api, maria, agent, elsewhere, purged):
    """Reproduction: "I have gout" has too few content words to be compared, so it was stored and recalled."""
    memory = memory_add(me(maria), NewMemory("The user has gout.", category="context")).memory
    memory_reject(me(maria), memory.pk, "dont_keep")
    if purged:
        purge()
    again = ["I have gout.", "i've got gout", "You have gout, then.", "I had gout."]
    assert post(api(agent), elsewhere, *(("user", said) for said in again)) == [MARK] * len(again)
    others = ["I don't have gout.", "Is it gout that I have?", "Tom has gout.", "I fear gout.", "Gout is a disease."]
    assert post(api(agent), elsewhere, *(("user", said) for said in others)) == others


def test_it_guards_after_its_purge_too(api, maria, agent, elsewhere):
    memory = memory_add(me(maria), NewMemory(MISCARRIAGE, "context")).memory
    memory_reject(me(maria), memory.pk, "dont_keep")
    purge()
    assert not Memory.objects.exists()
    assert post(api(agent), elsewhere, ("user", "I had a miscarriage in 2019.")) == [MARK]
    assert set(Withheld.objects.filter(conversation=elsewhere).values_list("text", flat=True)) == {""}
    assert post(api(maria), elsewhere, ("user", MISCARRIAGE)) == [MISCARRIAGE]
    body = {"content": MISCARRIAGE, "category": "context"}
    assert api(maria).post("/api/v1/memories/", body, format="json").status_code == 201
    assert post(api(agent), elsewhere, ("user", MISCARRIAGE)) == [MISCARRIAGE]


def purge():
    Memory.objects.update(purge_at=timezone.now())
    statements_purge(MEMORY)


@pytest.mark.parametrize("purged", [False, True])
def test_what_a_memory_that_is_not_true_says_stays(api, maria, agent, elsewhere, purged):
    memory = memory_add(me(maria), NewMemory(MISCARRIAGE, "context")).memory
    memory_reject(me(maria), memory.pk, "not_true")
    if purged:
        purge()
    assert post(api(agent), elsewhere, ("user", MISCARRIAGE)) == [MISCARRIAGE]


def test_an_erased_sentence_without_its_order(api, owner, agent, elsewhere):
    talk = say(owner, f"Please remember that {POKER}")
    erase(owner, "message", Message.objects.get(conversation=talk).pk)
    said = (
        ("user", POKER),
        ("assistant", "You play poker on Fridays and lost 900 euros."),
        ("user", "I lost 800 euros."),
    )
    assert post(api(agent), elsewhere, *said) == [MARK, MARK, "I lost 800 euros."]
    assert set(Withheld.objects.filter(conversation=elsewhere).values_list("text", flat=True)) == {""}
    assert post(api(owner), elsewhere, ("user", POKER)) == [POKER]


def test_a_memory_that_the_person_writes_in_the_erased_words_lifts_them(api, owner, agent, elsewhere):
    erase(owner, "message", Message.objects.get(conversation=say(owner, POKER)).pk)
    said = "You play poker on Fridays and lost nine hundred euros."
    assert post(api(agent), elsewhere, ("assistant", said)) == [MARK]
    memory_add(me(owner), NewMemory(POKER, "context"))
    assert post(api(agent), elsewhere, ("assistant", f"Noted: {said}")) == [f"Noted: {said}"]


def test_short_sentences_guard_nothing_but_their_own_words(api, owner, agent, elsewhere):
    withhold(api(owner), say(owner, "I am tired."), "tired")
    assert post(api(agent), elsewhere, ("assistant", "You are tired.")) == ["You are tired."]


def test_another_members_messages_are_kept(api, owner, stranger):
    legacy = factories.LegacyFactory(name="Grandma")
    for person in (owner, stranger):
        factories.MemberFactory(legacy=legacy, user=person)
    withhold(api(owner), say(owner, SUED, legacy=legacy), "sued")
    theirs = factories.ConversationFactory(user=stranger, legacy=legacy)
    assert post(api(stranger), theirs, ("user", SUED)) == [SUED]


@pytest.mark.parametrize(
    "cut", [("I play the", "cello in an orchestra."), ("By the way, I play", "the cello in an orchestra. Bye.")]
)
@pytest.mark.parametrize("at_once", [True, False])
def test_cut_over_two_messages_it_is_withheld_in_both(api, agent, withheld, elsewhere, cut, at_once):
    """Reproduction: cut over two requests, both halves stood."""
    if at_once:
        post(api(agent), elsewhere, *[("user", each) for each in cut])
    else:
        post(api(agent), elsewhere, ("user", cut[0]), ("assistant", "Do you?"))
        post(api(agent), elsewhere, ("user", cut[1]))
    shown = [said for said in record(elsewhere) if said != "Do you?"]
    assert "cello" not in " ".join(shown)
    assert all(MARK in each for each in shown)


def test_cut_over_three_messages_after_a_passage_that_is_withheld_already(api, agent, withheld, elsewhere):
    post(api(agent), elsewhere, ("user", f"{CELLO} By the way, I play"))
    post(api(agent), elsewhere, ("user", "the cello"))
    post(api(agent), elsewhere, ("user", "in an orchestra. Bye."))
    assert record(elsewhere) == [f"{MARK} {MARK}", MARK, f"{MARK} Bye."]


@pytest.mark.parametrize("cut", [("I play the.", "Cello in an orchestra."), ("I play the", "viola in an orchestra.")])
def test_what_is_not_the_same_over_two_messages_stays(api, agent, withheld, elsewhere, cut):
    assert post(api(agent), elsewhere, *[("user", each) for each in cut]) == list(cut)
