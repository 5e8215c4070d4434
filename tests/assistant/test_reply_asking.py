"""Scenarios 1 to 6 of source 001, with a model over HTTP and without one, and the agent tests of source 000."""

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person
from assistant.learn.summarizing import conversation_finish
from conversations.actions import conversation_create
from conversations.models import Message
from language.reading.refusals import asks_to_keep
from language.reading.replying import ERASE_ALL, GONE_ALONG, NOT_KEPT, NOTHING_TO_FORGET, READ, SOME_WAITS
from memories.actions import memory_reject
from memories.models import Memory
from statements.models import Suppression
from tests import factories
from tests.language.messages_api import spoken

from .extracting import add
from .replying import behind, record, remembered, say, text_of

pytestmark = pytest.mark.django_db(transaction=True)
AFFAIR = "My sister Roswitha had an affair with the priest."
BOSS = "Alec is the user's boss."
ADD = ("toolu_1", "add_to_memory", {"content": BOSS, "category": "person", "subject": "Alec"})


def command(api, owner, text):
    return api(owner).post("/api/v1/command/", {"text": text}, format="json").json()


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Got it - should I remember that for future conversations?", True),
        ("Would you like me to remember that Alec is your boss for future conversations?", True),
        ("Nice! Want me to keep that in mind?", True),
        ("Soll ich mir das merken?", True),
        ("Veux-tu que je le retienne ?", True),
        ("¿Quieres que lo recuerde?", True),
        ("Do you remember Tom?", False),
        ("I'll remember that. What else?", False),
        ("Should I write the email now?", False),
    ],
)
def test_what_asks_to_remember(text, asks):
    assert asks_to_keep(text) is asks


class TestWithoutAModel:
    @pytest.fixture(autouse=True)
    def _offline(self, settings):
        settings.KEEPSAKE_EMBEDDER = "hashing"

    def test_scenario_1_it_asks_and_stores_on_yes(self, tell):
        assert tell("Alec is my boss by the way").endswith("Shall I remember that Alec is your boss?")
        assert remembered() == []
        assert tell("Yes") == "I will remember that Alec is your boss."
        assert remembered() == [BOSS]
        memory = Memory.objects.get()
        assert (memory.category, memory.subject) == ("person", "Alec")

    def test_a_question_in_between_does_not_end_the_offer(self, tell):
        tell("Alec is my boss by the way")
        assert remembered() == []
        tell("Where do I live?")
        assert tell("Sure, keep it") == "I will remember that Alec is your boss."
        assert remembered() == [BOSS]

    @pytest.mark.parametrize("later", ["Please remember that I keep bees.", "Yes please, remember that I keep bees."])
    def test_an_order_to_keep_something_else_answers_no_question_of_before(self, tell, later):
        """Reproduction: "please remember …" two messages later was taken for a yes, and the secret was kept."""
        tell("My brother Olaf is in prison.")
        tell("Where do I live?")
        assert tell(later) == "I will remember that you keep bees."
        assert remembered() == ["The user keeps bees."]

    def test_such_an_order_right_after_the_question_refuses_and_agrees_to_nothing(self, tell):
        tell("My brother Olaf is in prison.")
        tell("Please remember that I keep bees.")
        assert remembered() == ["The user keeps bees."]

    def test_a_yes_that_orders_something_else_right_after_the_question_is_to_both(self, tell):
        tell("My brother Olaf is in prison.")
        tell("Yes please, and remember that I keep bees.")
        assert remembered() == ["The user keeps bees.", "The user's brother Olaf is in prison."]

    def test_a_yes_that_puts_it_right_stores_what_is_right(self, tell):
        assert "that your sister Ana is a vet?" in tell("My sister Ana is a vet.")
        assert tell("Yes, but she's a dentist.") == "I will remember that your sister Ana is a dentist."
        assert remembered() == ["The user's sister Ana is a dentist."]

    def test_something_else_that_is_said_in_between_does(self, tell):
        tell("Alec is my boss by the way")
        tell("I'm so tired today.")
        assert "I will remember" not in tell("Yes")
        assert remembered() == []

    def test_a_yes_after_an_answer_that_asks_is_to_that(self, tell, owner):
        for year in (2018, 2019):
            factories.MemoryFactory(user=owner, content=f"The user moved into the house in {year}.")
        tell("Alec is my boss by the way")
        assert "?" in tell("When did I move into the house?")
        assert "I will remember" not in tell("Yes")

    def test_scenario_2_it_recalls_in_a_new_conversation(self, tell, owner, talk):
        tell("Remember that Alec is my boss.")
        assert "- Alec is your boss. (remembered on " in tell("Who is Alec?", talk(owner))

    def test_scenario_3_a_correction_is_made_without_asking_and_told(self, tell, owner):
        memory = factories.MemoryFactory(user=owner, content="Sarah works on the Platform team.", subject="Sarah")
        told = tell("Sarah works on the Design team now.")
        assert told.endswith(
            "Updated: Sarah works on the Design team. Until now I had: Sarah works on the Platform team."
        )
        memory.refresh_from_db()
        assert (memory.content, memory.version) == ("Sarah works on the Design team.", 2)
        assert Memory.objects.count() == 1

    @pytest.mark.parametrize("no", ["No", "No, it's just for this task", "Nein danke"])
    def test_scenario_4_a_no_leaves_nothing(self, tell, no):
        tell("Alec is my boss by the way.")
        assert tell(no) == NOT_KEPT
        assert not Memory.objects.exists()
        assert "Alec" not in record()

    def test_a_no_in_other_words_is_judged_before_the_transaction(self, tell, settings):
        settings.KEEPSAKE_EMBEDDER = "bundled"
        tell("Alec is my boss by the way.")
        assert tell("I'd rather you didn't.") == NOT_KEPT
        assert not Memory.objects.exists()

    @pytest.mark.parametrize(
        "said", ["I'm working with James on this project", "I'm tired today", "This task is for the Monday meeting."]
    )
    def test_what_passes_and_what_is_of_the_task_is_neither_asked_nor_stored(self, tell, said):
        assert "remember that" not in tell(said)
        assert not Message.objects.exclude(held_until=None).exists()
        assert not Memory.objects.exists()

    def test_what_is_known_is_neither_asked_nor_stored_again(self, tell, owner):
        factories.MemoryFactory(user=owner, content="The user likes green tea.")
        assert "remember that" not in tell("I like green tea.")
        assert Memory.objects.count() == 1

    @pytest.mark.parametrize(
        ("said", "stored", "told"),
        [
            ("Remember that I prefer Friday due dates", "The user prefers Friday due dates.", "you prefer Friday"),
            ("From now on, always set reminders for 9am", "The user asked to always set reminders for 9am.", "9am"),
        ],
    )
    def test_what_they_ask_for_is_stored_at_once_and_said(self, tell, said, stored, told):
        answer = tell(said)
        assert "I will remember that" in answer
        assert told in answer
        assert remembered() == [stored]

    def test_scenarios_5_and_6_the_command_lists_and_deletes(self, tell, api, owner):
        tell("Remember that I prefer Friday due dates.")
        memory = Memory.objects.get()
        assert f"[{memory.pk}]" in command(api, owner, "/memory")["text"]
        assert "Deleted" in command(api, owner, f"/memory delete {memory.pk}")["text"]
        assert remembered() == []

    def test_what_waits_for_an_answer_is_not_read_when_they_go_on(self, tell):
        tell("Alec is my boss by the way.")
        tell("I'm tired today.")
        assert not Memory.objects.exists()

    def test_a_yes_to_nothing_stores_nothing(self, tell):
        tell("Hello there.")
        assert tell("Yes") == READ
        assert not Memory.objects.exists()

    def test_a_yes_to_a_city_is_consent(self, tell):
        tell("I live in Porto.")
        tell("Yes, please.")
        assert Memory.objects.get().state == "active"

    def test_nothing_is_asked_in_a_private_talk(self, tell, owner, talk):
        assert "Shall I" not in tell("Alec is my boss.", talk(owner, private=True))


class TestWithAModel:
    @pytest.fixture(autouse=True)
    def _model_behind_the_api(self, settings, server):
        behind(settings, server)

    def test_scenario_1_what_it_asks_about_is_stored_on_yes(self, tell, server, model):
        model.calls([add(BOSS, category="person", quote="Alec is my boss")])
        server.answers(
            spoken("Would you like me to remember that Alec is your boss?"), spoken(calls=[ADD]), spoken("Done.")
        )
        tell("Alec is my boss by the way")
        assert remembered() == []
        tell("Yes")
        assert remembered() == [BOSS]
        assert Message.objects.get(index=0).held_until is not None
        sent = server.requests[0].body["system"][0]["text"]
        assert "Ask first, in half a sentence" in sent

    def test_scenario_2_a_new_conversation_is_shown_it(self, tell, owner, talk, server):
        memory = factories.MemoryFactory(user=owner, content=BOSS, subject="Alec", category="person")
        server.answers(spoken("I'll create a task to update Alec on the project."))
        tell("Can you create a task to update Alec on the project?", talk(owner))
        assert f"[id:{memory.pk}]" in server.requests[0].body["system"][0]["text"]
        assert Memory.objects.count() == 1

    def test_scenario_3_a_correction_updates_without_asking(self, tell, owner, server):
        memory = factories.MemoryFactory(user=owner, content="Sarah works on the Platform team.", subject="Sarah")
        update = ("toolu_1", "update_memory", {"memory_id": memory.pk, "content": "Sarah works on the Design team."})
        server.answers(spoken(calls=[update]), spoken("Updated - I now have Sarah on the Design team."))
        tell("Sarah moved to the Design team last week")
        memory.refresh_from_db()
        assert (memory.content, memory.version) == ("Sarah works on the Design team.", 2)
        result = server.requests[1].body["messages"][-1]["content"][0]["content"]
        assert "Until now it said: Sarah works on the Platform team." in result

    def test_scenario_4_a_no_leaves_nothing(self, tell, server, model):
        model.calls([add(BOSS, category="person", quote="Alec is my boss")])
        server.answers(spoken("Should I remember that Alec is your boss?"), spoken("No problem, I won't store that."))
        tell("Alec is my boss by the way")
        tell("No, it's just for this task")
        assert not Memory.objects.exists()
        assert "Alec" not in record()
        assert "Alec" not in str(server.requests[-1].body["messages"])

    def test_the_person_s_yes_lifts_what_a_model_s_word_can_t(self, tell, owner, server, model):
        """A yes in so many words is their own; the model's call beside it is refused."""
        known = factories.MemoryFactory(user=owner, content=BOSS, subject="Alec", category="person")
        memory_reject(principal_for_person(owner.pk), known.pk)
        assert Suppression.objects.exists()
        model.calls([add(BOSS, category="person", quote="Alec is my boss")])
        server.answers(spoken("Shall I remember that?"), spoken(calls=[ADD]), spoken("Done."))
        tell("Alec is my boss by the way")
        tell("Yes")
        assert remembered() == [BOSS]

    def test_nothing_is_held_without_a_question(self, tell, server, model):
        model.calls([add(BOSS, category="person", quote="Alec is my boss")])
        server.answers(spoken("Give him my regards."))
        tell("Alec is my boss by the way")
        assert remembered() == [BOSS]


class TestTheDocumentOfSource000:
    """Its agent tests: a model behind the Messages API manages the document of memories by one tool."""

    @pytest.fixture(autouse=True)
    def _model_behind_the_api(self, settings, server):
        behind(settings, server)

    def manage(self, operation, **arguments):
        return spoken(calls=[("toolu_1", "manage_user_memory", {"operation": operation, **arguments})])

    def asked(self, server):
        """The requests for answers, without those of the model that reads."""
        bodies = [request.body for request in server.requests]
        return [each for each in bodies if "manage_user_memory" in {tool["name"] for tool in each.get("tools", ())}]

    def test_agent_stores_facts_when_the_user_shares_information(self, tell, server):
        server.answers(self.manage("add_fact", content="The user prefers morning workouts."), spoken("Noted."))
        assert tell("Remember that I prefer morning workouts.") == "Noted."
        assert remembered() == ["The user prefers morning workouts."]
        assert len(self.asked(server)) == 2

    def test_agent_retrieves_and_references_stored_memories(self, tell, owner, server):
        factories.MemoryFactory(user=owner, content="The user prefers morning workouts.")
        server.answers(self.manage("get_memory"), spoken("In the morning."))
        assert tell("When do I like to work out?") == "In the morning."
        first, second = self.asked(server)
        assert "The user prefers morning workouts." in first["system"][0]["text"]
        result = second["messages"][-1]["content"][0]
        assert (result["type"], result["tool_use_id"]) == ("tool_result", "toolu_1")
        assert "The user prefers morning workouts." in str(result["content"])

    def test_agent_deactivates_outdated_facts(self, tell, owner, server):
        old = factories.MemoryFactory(user=owner, content="The user works in Seattle.")
        server.answers(self.manage("deactivate_fact", fact_id=old.pk), spoken("I have taken that out."))
        tell("I don't work in Seattle any more.")
        old.refresh_from_db()
        assert (old.state, remembered()) == ("archived", [])

    def test_memories_persist_across_conversations(self, tell, owner, talk, server):
        server.answers(
            self.manage("add_fact", content="The user prefers morning workouts."),
            spoken("Noted."),
            spoken("In the morning."),
        )
        tell("Remember that I prefer morning workouts.")
        tell("When do I like to work out?", talk(owner))
        assert "The user prefers morning workouts." in self.asked(server)[-1]["system"][0]["text"]


class TestForgetting:
    """Somebody wants one sentence gone right after they are asked about it, and is told what is so."""

    def test_what_was_asked_about_is_declined_and_confirmed(self, tell, owner, conversation):
        assert "Shall I remember that your sister Roswitha had an affair" in tell(AFFAIR)
        assert tell("Please forget that I told you about Roswitha's affair.") == NOT_KEPT
        message = Message.objects.get(conversation=conversation, index=0)
        assert (message.content, message.declined, message.held_until) == ("[withheld]", True, None)
        conversation_finish(principal_for_person(owner.pk), conversation.pk)
        assert remembered() == []
        assert "affair" not in record()

    def test_where_nothing_was_found_it_says_so_and_what_to_do(self, tell):
        tell(AFFAIR)
        tell("Yes")
        assert tell("Forget that I told you about the swan in Laxenburg.") == NOTHING_TO_FORGET
        assert len(remembered()) == 1

    @pytest.mark.parametrize("said", ["Can you delete all you know about me?", "Delete everything you know about me."])
    def test_where_everything_is_meant_it_says_where_that_is_done(self, tell, owner, said):
        factories.MemoryFactory(user=owner, content="The user has a sister named Karin.", subject="Karin")
        assert tell(said).endswith(f"{NOT_KEPT} {ERASE_ALL}")
        assert len(remembered()) == 1

    @pytest.mark.parametrize("said", ["Forget that.", "Forget Bello."])
    def test_a_question_before_is_left_alone(self, tell, settings, said):
        settings.KEEPSAKE_EMBEDDER = "bundled"
        tell("What is my mother called?")
        assert tell(said) == NOTHING_TO_FORGET
        assert record().startswith("What is my mother called?")

    def test_what_is_not_to_be_mentioned_again_is_forgotten(self, tell, owner):
        factories.MemoryFactory(user=owner, content="The user has a sister named Karin.", subject="Karin")
        assert tell("Please don't ever mention my sister Karin again.").endswith(NOT_KEPT)
        assert remembered() == []

    @pytest.mark.parametrize(
        "said", ["Don't tell anyone about my brother Peter.", "Please do not tell Anna about my sister Ida."]
    )
    def test_a_wish_for_discretion_is_no_offer_to_keep(self, tell, said):
        assert "Shall I remember" not in tell(said)
        assert remembered() == []

    def test_what_stood_beside_it_and_was_agreed_to_stays(self, tell):
        tell("My mother is called Helga. Our dog needs surgery.")
        tell("Yes")
        assert len(remembered()) == 2
        assert tell("Forget that our dog needs surgery.") == NOT_KEPT
        assert remembered() == ["The user's mother is called Helga."]
        assert record().startswith("My mother is called Helga. [withheld]")

    def test_a_fixed_sentence_is_no_echo(self, tell):
        tell("My password is hunter2x!")
        tell("Our dog has a bad left knee.")
        tell("Forget that our dog has a bad left knee.")
        assert "It is left in this talk only, where you can withhold it." in record()
        assert "knee" not in record()

    def test_by_a_name_all_about_it_is_forgotten(self, tell, owner):
        factories.MemoryFactory(user=owner, content="The user's dog is called Bello.")
        factories.MemoryFactory(user=owner, content="The vet says that Bello limps on cold days.")
        assert tell("Forget Bello.").endswith(NOT_KEPT)
        assert remembered() == []

    def test_what_is_found_as_a_memory_only_is_forgotten_and_confirmed(self, tell, owner):
        factories.MemoryFactory(user=owner, content="The user sells cannabis.")
        assert tell("Forget that I told you that I sell cannabis.").endswith(NOT_KEPT)
        assert remembered() == []

    def test_what_an_agent_relays_waits_and_they_are_told_so(self, api, agent, owner):
        factories.MemoryFactory(user=owner, content="The user sells cannabis.")
        talk = conversation_create(factories.agent_principal(agent, owner))
        told = text_of(say(api(agent), talk, "Forget that I told you that I sell cannabis."))
        assert told.endswith(f"{NOT_KEPT} {SOME_WAITS}")
        assert remembered() == ["The user sells cannabis."]

    def test_so_does_a_correction_that_an_agent_relays(self, api, agent, owner):
        factories.MemoryFactory(user=owner, content="The user plays the cello.")
        talk = conversation_create(factories.agent_principal(agent, owner))
        told = text_of(say(api(agent), talk, "Actually, I play the viola, not the cello."))
        assert told.endswith("This waits until you approve it: You play the viola.")
        assert remembered() == ["The user plays the cello."]

    def test_what_the_message_itself_says_is_not_kept(self, tell):
        assert tell("Please don't write down that I stole a bike.").endswith(NOT_KEPT)

    def test_a_later_answer_still_says_what_is_kept_of_the_same_kind(self, tell, owner):
        factories.MemoryFactory(user=owner, content="The user is allergic to shellfish.")
        assert tell("I'm allergic to walnuts. Don't keep that.").endswith(NOT_KEPT)
        tell("What do you know about me?")
        assert "You are allergic to shellfish" in record()
        assert "walnuts" not in record()

    @pytest.mark.parametrize("confirmed", [True, False])
    def test_what_went_along_with_the_sentence_is_told(self, tell, confirmed):
        tell("Remember that my sister Karin is a nurse and that I love sailing.")
        assert len(remembered()) == 2
        Memory.objects.update(reviewed_at=timezone.now() if confirmed else None)
        answer = tell("Forget that my sister Karin is a nurse.")
        assert answer == (NOT_KEPT if confirmed else f"{NOT_KEPT} {GONE_ALONG}")
        assert remembered() == (["The user loves sailing."] if confirmed else [])

    def test_nothing_is_told_to_have_gone_along_with_all_that_was_named(self, tell, owner):
        for content in ("The user has a cat named Bello.", "Bello is eight years old."):
            factories.MemoryFactory(user=owner, content=content, subject="Bello")
        assert GONE_ALONG not in tell("Forget everything about Bello.")
        assert remembered() == []
