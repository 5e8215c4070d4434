"""A no in talk is heard when it is saved: what it means is withheld at once, and the answer says so."""

import pytest

from accounts.queries import principal_for_person
from conversations.actions import NewMessage, messages_append, refusals_of, said_elsewhere, withheld_restore
from conversations.models import Message, Withheld
from conversations.passages import MARK
from facts.models import FactEvidence, LegacyFact
from journal.models import Change
from journal.undo import undo
from memories.actions import memory_add
from memories.models import Memory, MemoryEvidence
from memories.records import NewMemory
from statements.models import Suppression
from tests import factories
from tests.memories.rows import remember

pytestmark = pytest.mark.django_db
DEBTS = "My father had debts with half the village."
PLEASE = "please do not write down the thing about my father's debts"


def me(person):
    return principal_for_person(person.pk)


def say(person, conversation, *contents, **kwargs):
    """The person and the other side in turn; "guide>" begins what the other side says."""
    new = [
        NewMessage("assistant", content[7:]) if content.startswith("guide> ") else NewMessage("user", content)
        for content in contents
    ]
    return messages_append(me(person), conversation.pk, new, **kwargs)


def record(conversation):
    return list(Message.objects.filter(conversation=conversation).order_by("index").values_list("content", flat=True))


@pytest.fixture
def conversation(owner):
    return factories.ConversationFactory(user=owner)


@pytest.mark.parametrize("together", [True, False])
def test_what_they_name_is_withheld_and_the_answer_says_so(api, owner, conversation, together):
    said = ["Good morning.", f"{DEBTS} He was cheerful all the same.", PLEASE]
    url = f"/api/v1/conversations/{conversation.pk}/messages/"
    if together:
        body = {"messages": [{"role": "user", "content": each} for each in said]}
        answer = api(owner).post(url, body)
    else:
        say(owner, conversation, *said[:-1])
        answer = api(owner).post(url, {"role": "user", "content": said[-1]}, headers={"Idempotency-Key": "no"})
        again = api(owner).post(url, {"role": "user", "content": said[-1]}, headers={"Idempotency-Key": "no"})
        assert again.json() == answer.json()
    assert answer.status_code == 201
    assert answer.json()["refusals"] == [{"index": 2, "withheld": [1, 2]}]
    assert answer.json()["messages"][-1]["content"] == MARK
    assert record(conversation) == ["Good morning.", f"{MARK} He was cheerful all the same.", MARK]
    assert not Message.objects.filter(search_text__contains="debt").exists()


def test_a_no_to_being_asked_withholds_what_was_asked_about(owner, conversation):
    say(owner, conversation, "I need the report in French this time.")
    say(owner, conversation, "guide> Shall I remember that you want reports in French?")
    say(owner, conversation, "No, it's just for this task.")
    assert record(conversation) == [MARK, MARK, "No, it's just for this task."]


def test_the_question_that_was_asked_is_withheld_along_in_other_words_too(owner, conversation):
    say(owner, conversation, "My mum drank.")
    say(owner, conversation, "guide> I see. Shall I remember that your mother was an alcoholic?")
    say(owner, conversation, "no")
    assert record(conversation) == [MARK, f"I see. {MARK}", "no"]


def test_what_was_agreed_to_before_stays_known_when_a_message_refuses_what_it_says_itself(owner, conversation):
    son = "My son Jonas is a pilot."
    told = ["Shall I remember that your son Jonas is a pilot?", "I will remember that your son Jonas is a pilot."]
    for each in (son, f"guide> {told[0]}", "yes", f"guide> {told[1]}"):
        say(owner, conversation, each)
    (memory,) = remember(owner, "The user's son Jonas is a pilot.")
    message = Message.objects.get(conversation=conversation, index=0)
    MemoryEvidence.objects.create(version=memory.versions.get(), message=message, quote=son)
    say(owner, conversation, "I have arthritis in my left knee. Don't keep that.")
    assert record(conversation) == [son, told[0], "yes", told[1], f"{MARK} Don't keep that."]
    assert Memory.objects.get().state == "active"


def test_a_held_message_is_declined_and_comes_back_when_that_is_taken_back(api, owner, conversation):
    say(owner, conversation, "I always fly economy.")
    url = f"/api/v1/conversations/{conversation.pk}/messages/0/"
    api(owner).patch(url, {"held": True})
    say(owner, conversation, "guide> Nice.", "no thanks, please don't")
    message = Message.objects.get(conversation=conversation, index=0)
    assert (message.declined, message.held_until, message.reading_due, message.content) == (True, None, None, MARK)
    api(owner).patch(url, {"declined": False})
    assert record(conversation)[0] == "I always fly economy."


def test_what_the_person_takes_for_talk_stays(owner, conversation):
    said = ["Was he a miner?", "No, he was a baker.", "Don't forget the milk.", "I don't remember the year."]
    say(owner, conversation, *said)
    assert record(conversation) == said
    assert not Withheld.objects.exists()


def test_it_can_be_given_back_on_the_page_withheld(owner, conversation):
    say(owner, conversation, DEBTS)
    say(owner, conversation, "Don't write that down.")
    assert record(conversation)[0] == MARK
    withheld_restore(me(owner), Withheld.objects.get().pk)
    assert record(conversation)[0] == DEBTS


def test_it_can_be_undone(owner, conversation):
    (memory,) = remember(owner, "The user lives in Lisbon.")
    say(owner, conversation, "I live in Lisbon.")
    say(owner, conversation, "Forget that I live in Lisbon.")
    assert (record(conversation), Memory.objects.get().state) == ([MARK, MARK], "archived")
    change = Change.objects.get(event="DELETE", object_id=memory.pk)
    undo(me(owner), change.rev, change.rev)
    assert record(conversation) == ["I live in Lisbon.", "Forget that I live in Lisbon."]
    assert Memory.objects.get().state == "active"


def test_a_turn_that_saves_it_does_without_it(api, owner, conversation):
    remember(owner, "The user lives in Lisbon.")
    say(owner, conversation, "I live in Lisbon. I like figs.", "guide> How is Lisbon?")
    body = {"content": "Please forget that I live in Lisbon.", "save": True}
    headers = {"Idempotency-Key": "turn"}
    answer = api(owner).post(f"/api/v1/conversations/{conversation.pk}/turn/", body, headers=headers).json()
    assert answer["refusals"] == [{"index": 2, "withheld": [0, 2]}]
    assert answer["text"].count("Lisbon") == 1  # What they say now.
    assert "I like figs." in answer["text"]
    again = api(owner).post(f"/api/v1/conversations/{conversation.pk}/turn/", body, headers=headers).json()
    assert again["refusals"] == answer["refusals"]


def test_another_agent_does_not_refuse_for_the_person(agent, owner, conversation):
    say(owner, conversation, DEBTS)
    other = factories.agent_principal(agent, owner)
    messages_append(other, conversation.pk, [NewMessage("user", "Don't write that down.")])
    assert record(conversation)[0] == DEBTS


def test_what_was_learned_of_it_goes_with_it(owner, conversation):
    say(owner, conversation, DEBTS)
    message = Message.objects.get(conversation=conversation)
    learned, elsewhere, _ = remember(
        owner, "The user's father had debts.", "The user's father paid.", "The user has a dog."
    )
    for memory in (learned, elsewhere):
        MemoryEvidence.objects.create(version=memory.versions.get(), message=message, quote=DEBTS)
    another = factories.MessageFactory(conversation=factories.ConversationFactory(user=owner), content="He paid.")
    MemoryEvidence.objects.create(version=elsewhere.versions.get(), message=another, quote="He paid.")
    noted = memory_add(me(owner), NewMemory("The user's father had debts in the village.", "person")).memory
    Memory.objects.update(reviewed_at=None)
    say(owner, conversation, "guide> I see.", "Please don't write that down.")
    gone = set(Memory.objects.filter(state="archived").values_list("pk", flat=True))
    assert gone == {learned.pk, noted.pk}
    assert Suppression.objects.count() == 2


def test_what_they_name_is_forgotten_wherever_it_was_learned(owner, conversation):
    lisbon, porto = remember(owner, "The user lives in Lisbon.", "The user lives with Ana in Porto.")
    say(owner, conversation, "Don't remember that I live in Lisbon.")
    assert set(Memory.objects.filter(state="archived")) == {lisbon}
    assert Memory.objects.get(pk=porto.pk).state == "active"


POTTERY = "I started pottery classes on Thursdays."


@pytest.mark.parametrize(
    "asked",
    [
        "Forget everything about my pottery.",
        "Forget what I said about my pottery.",
        "Forget everything about my pottery and my boat.",
        "Forget everything I said about last week. Forget everything about my pottery.",
    ],
)
def test_everything_about_a_thing_goes_from_other_conversations_too_and_can_be_given_back(owner, conversation, asked):
    before, others = factories.ConversationFactory(user=owner), factories.ConversationFactory()
    said = [POTTERY, "I saw Ana last week. My pots crack.", "Ana teaches pottery. I row.", "Is pottery hard?"]
    say(owner, before, *said)
    say(others.user, others, POTTERY)
    messages = say(owner, conversation, "Hello.", asked)
    assert record(before) == [MARK, said[1], f"{MARK} I row.", said[3]]
    assert record(others) == [POTTERY]
    assert refusals_of(messages) == [{"index": 1, "withheld": [1]}]
    withheld_restore(me(owner), Withheld.objects.filter(message__conversation=before).latest("created_at").pk)
    assert record(before) == said


def test_a_thing_is_found_elsewhere_in_every_form_and_as_a_noun_alone(owner, conversation):
    """Reproduction: "work" took what works along, and "diary" missed the diaries; the newest messages were skipped."""
    before = factories.ConversationFactory(user=owner)
    say(owner, before, "My diaries are in the attic. The dishwasher does not work.", *["I row. " * 30] * 8, "A diary!")
    say(owner, conversation, "Forget everything about my diary.")
    assert (record(before)[0], record(before)[-1]) == (f"{MARK} The dishwasher does not work.", MARK)
    say(owner, conversation, "Forget everything about my work.")
    assert record(before)[0] == f"{MARK} The dishwasher does not work."


def test_an_agent_that_relays_it_takes_nothing_from_other_conversations(api, agent, owner):
    before = factories.ConversationFactory(user=owner)
    say(owner, before, POTTERY)
    own = factories.ConversationFactory(user=owner, agent=agent)
    client = api(factories.AgentKeyFactory(agent=agent, scopes=["read", "write"]).credential)
    body = {"messages": [{"role": "user", "content": "Forget everything about my pottery."}]}
    assert client.post(f"/api/v1/conversations/{own.pk}/messages/", body, format="json").status_code == 201
    assert (record(own), record(before)) == ([MARK], [POTTERY])


@pytest.mark.parametrize("asked", ["Forget about my pottery.", "Don't keep the thing about pottery."])
def test_what_other_conversations_tell_of_a_thing_is_known_but_stays(owner, conversation, asked):
    before = factories.ConversationFactory(user=owner)
    (said,) = say(owner, before, POTTERY)
    say(owner, factories.ConversationFactory(user=owner, private=True), POTTERY)
    say(owner, conversation, "I sold my boat.", asked)
    assert record(before) == [POTTERY]
    assert [(each.message_id, each.sentence) for each in said_elsewhere(me(owner), conversation.pk, asked)] == [
        (said.pk, POTTERY)
    ]
    assert said_elsewhere(me(owner), before.pk, asked) == []
    assert said_elsewhere(me(owner), conversation.pk, "Forget what I said about my boots.") == []


def test_facts_that_were_learned_in_the_other_conversation_go_along(owner, legacy, conversation):
    about = factories.ConversationFactory(user=owner, legacy=legacy)
    (said,) = say(owner, about, "Henry was in prison for a year.")
    fact = factories.LegacyFactFactory(user=owner, legacy=legacy, content="Henry was in prison for a year.")
    FactEvidence.objects.create(fact=fact, message=said, quote=said.content)
    say(owner, conversation, "Forget everything about the prison.")
    assert (record(about), LegacyFact.objects.get().state) == ([MARK], "archived")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("The user shot a swan.", "Forget that I shot a swan."),
        ("The user tried cocaine.", "Forget that I tried cocaine."),
        ("The user's dad sold the boat.", "Forget that my father sold the boat."),
    ],
)
def test_a_word_names_it_in_every_form(owner, conversation, content, said):
    memory, _ = remember(owner, content, "The user keeps hens.")
    say(owner, conversation, said)
    assert set(Memory.objects.filter(state="archived")) == {memory}


def test_a_clause_that_is_taken_back_is_forgotten_also_beside_another(owner, conversation):
    both, tea = remember(
        owner, "The user can't eat shellfish and is learning Portuguese.", "The user drinks tea and keeps shellfish."
    )
    say(owner, conversation, "Forget that I can't eat shellfish.")
    assert set(Memory.objects.filter(state="archived")) == {both}
    assert Memory.objects.get(pk=tea.pk).state == "active"


def test_an_import_forgets_nothing_that_is_known(owner, conversation):
    remember(owner, "The user lives in Lisbon.")
    long_ago = conversation.created_at.replace(year=2020, day=1)
    messages_append(
        me(owner), conversation.pk, [NewMessage("user", "Don't remember that I live in Lisbon.", at=long_ago)]
    )
    assert record(conversation) == [MARK]
    assert Memory.objects.get().state == "active"


def test_a_fact_that_was_learned_of_it_goes_too(owner, legacy):
    conversation = factories.ConversationFactory(user=owner, legacy=legacy)
    say(owner, conversation, DEBTS)
    fact = factories.LegacyFactFactory(user=owner, legacy=legacy, content="Henry had debts with half the village.")
    FactEvidence.objects.create(fact=fact, message=Message.objects.get(conversation=conversation), quote=DEBTS)
    say(owner, conversation, "Forget what I said about the debts.")
    assert LegacyFact.objects.get(pk=fact.pk).state == "archived"


def test_only_what_says_the_same_of_the_same_person_goes(owner, conversation):
    kept = ["I live in Lisbon too.", "My brother lives in Lisbon.", "My sister has a dog."]
    say(owner, conversation, f"My sister lives in Lisbon. {kept[0]}")
    say(owner, conversation, "guide> How is your sister in Lisbon?", *kept[1:])
    told = [
        "Where do you live? (“I live in …”)",
        "Your sister has a dog.",
        "You live in Lisbon too.",
        "I live in a box.",
    ]
    say(owner, conversation, f"guide> Your sister lives in Lisbon. {' '.join(told)}")
    say(owner, conversation, "Forget that my sister lives in Lisbon.")
    say(
        owner,
        conversation,
        "guide> I forget that she is in Lisbon.",
        "guide> “My brother lives in Lisbon.” You said so.",
    )
    assert record(conversation) == [
        f"{MARK} {kept[0]}",
        MARK,
        *kept[1:],
        f"{MARK} {' '.join(told)}",
        MARK,
        MARK,
        "“My brother lives in Lisbon.” You said so.",
    ]


@pytest.mark.parametrize(
    "said", ["I live in Porto.", "My brother lives in Lisbon.", "Ana lives with her cat in Lisbon."]
)
def test_what_is_so_of_others_is_not_what_they_name(owner, conversation, said):
    say(owner, conversation, said, "guide> I see.", "Forget that I live in Lisbon.")
    assert record(conversation)[0] == said


@pytest.mark.parametrize("together", [True, False])
def test_an_answer_without_a_refusing_word_is_heard_after_the_question(owner, conversation, settings, together):
    settings.KEEPSAKE_EMBEDDER = "bundled"
    answer = "What I do in the polling booth stays my affair."
    said = ["I voted for the other party.", "guide> Shall I remember that?", answer]
    for each in [said] if together else ([one] for one in said):
        say(owner, conversation, *each)
    assert record(conversation)[0] == MARK
    say(owner, conversation, "I voted for the other party.", "guide> Was it raining?", answer)
    assert record(conversation)[3] == "I voted for the other party."


def test_for_a_long_message_that_can_not_refuse_nothing_is_asked(owner, conversation, django_assert_num_queries):
    told = "I keep bees on the roof of our house, and the whole street gets a jar of honey each summer. " * 2
    (saved,) = messages_append(principal_for_person(owner.pk), conversation.pk, [NewMessage("user", told)])
    with django_assert_num_queries(0):
        assert refusals_of([saved]) == []
    short = Message(conversation=conversation, role="user", content="That's hers to tell.")
    with django_assert_num_queries(1):
        assert refusals_of([short]) == []


def test_what_a_message_asks_to_remember_alone_stays_of_it(owner, conversation):
    """Reproduction: all of it was asked about."""
    say(owner, conversation, "I owe my brother 900 euros and I play the oboe. Only remember that I play the oboe.")
    (shown,) = record(conversation)
    assert (MARK in shown, "900" in shown, "Only remember that I play the oboe." in shown) == (True, False, True)
