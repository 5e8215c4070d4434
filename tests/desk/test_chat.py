"""The chat: beginning a talk, saying something by a plain form, trying again, and what an answer was shown."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.actions import preferences_set
from accounts.queries import principal_for_person
from assistant.learn import actions as learning
from assistant.learn.actions import extract_messages, message_refuse
from assistant.models import Reply
from assistant.reply.told import STOPPED, stop_key
from conversations.actions import NewMessage, messages_append
from conversations.models import Conversation, Message, Withheld
from tests import factories
from tests.assistant.replying import all_of, behind
from tests.language.messages_api import MODEL, OTHER_MODEL, error, spoken
from web import streaming

from .conftest import text, words

pytestmark = pytest.mark.django_db(transaction=True)
USED = {"input_tokens": 140, "cache_read_input_tokens": 860, "cache_creation_input_tokens": 0, "output_tokens": 140}


@pytest.fixture
def model(settings, server):
    behind(settings, server)
    return server


@pytest.fixture
def talk(owner):
    return factories.ConversationFactory(user=owner)


def page(talk):
    return reverse("conversation-page", args=[talk.pk])


def sent(answer):
    """Where a form leads whose answer is made meanwhile."""
    assert answer.status_code == 303, answer.content
    all_of(answer.streaming_content)
    return answer["Location"]


def say(client, talk, content):
    return client.post(reverse("chat-say", args=[talk.pk]), {"content": content})


class TestWithoutAScript:
    @pytest.mark.parametrize("about", ["myself", "a legacy"])
    def test_a_talk_begins_about_oneself_or_a_legacy_and_is_answered(self, visit, owner, legacy, about):
        client = visit(owner)
        shown = words(client.get("/talk/"))
        assert "No language model is configured here." in shown
        assert legacy.name in shown
        body = {"about": legacy.pk if about == "a legacy" else "", "content": "Who is Rosa?"}
        where = sent(client.post("/talk/", body))
        made = Conversation.objects.get()
        assert where == f"{page(made)}#end"
        assert (made.legacy_id, made.private) == (legacy.pk if about == "a legacy" else None, False)
        assert list(made.messages.order_by("index").values_list("role", flat=True)) == ["user", "assistant"]
        assert "Who is Rosa?" in words(client.get(where))

    def test_a_private_one_remembers_nothing(self, visit, owner, model):
        factories.MemoryFactory(user=owner, content="The user wears green velvet.")
        model.answers(spoken("Hello."))
        client = visit(owner)
        sent(client.post("/talk/", {"content": "I keep hens.", "private": "on"}))
        made = Conversation.objects.get()
        assert made.private
        assert "velvet" not in model.requests[-1].raw.decode()
        assert not Message.objects.exclude(reading_due=None).exists()
        assert "Private: nothing is remembered" in words(client.get(page(made)))

    def test_somebody_else_s_legacy_is_none_to_talk_about(self, visit, stranger, legacy):
        answer = visit(stranger).post("/talk/", {"about": legacy.pk, "content": "Who is Rosa?"})
        assert answer.status_code == 400
        assert not Conversation.objects.exists()

    def test_what_is_too_long_stays_in_the_composer(self, visit, owner, talk, settings):
        long = "a" * (settings.MESSAGE_MAX_CHARACTERS + 1)
        answer = say(visit(owner), talk, long)
        assert answer.status_code == 400
        assert "more than 32,000 characters" in words(answer)
        assert long in text(answer)
        assert not talk.messages.exists()

    def test_too_many_answers_at_once_are_refused_and_nothing_is_lost(self, visit, owner, talk, settings):
        settings.UPDATES_STREAMS_PER_PERSON = 0
        answer = say(visit(owner), talk, "I keep hens.")
        assert answer.status_code == 400
        assert ">I keep hens.</textarea>" in text(answer)
        assert not talk.messages.exists()

    def test_a_page_on_which_an_answer_is_made_loads_itself_again(self, visit, owner, talk):
        factories.MessageFactory(conversation=talk)
        Reply.objects.create(
            user=owner, conversation=talk, message_index=0, mode="agent", uses_tools=False, model="m",
            lease_until="2100-01-01T00:00Z",
        )  # fmt: skip
        shown = text(visit(owner).get(page(talk)))
        assert (
            f'<noscript><meta http-equiv="refresh" content="3; url=/conversations/{talk.pk}/?page=1"></noscript>'
            in shown
        )
        assert "data-running=" in shown

    def test_an_answer_that_ends_while_the_page_is_read_is_on_it(self, visit, owner, talk, monkeypatch):
        factories.MessageFactory(conversation=talk, content="Hello?")

        def ended(principal, conversation):
            messages_append(principal, conversation.pk, [NewMessage("assistant", "Here I am.")])

        monkeypatch.setattr("desk.conversations.views.running_reply", ended)
        assert "Here I am." in words(visit(owner).get(page(talk)))


class TestAnOfferToRemember:
    @pytest.fixture
    def asked(self, visit, owner, talk, settings):
        settings.KEEPSAKE_EMBEDDER = "hashing"
        client = visit(owner)
        shown = words(client.get(sent(say(client, talk, "My sister Ilse keeps hens."))))
        assert "Shall I remember that your sister Ilse keeps hens? Remember it Don’t keep it" in shown
        assert "Without an answer it waits under Review after a day." in shown
        return client

    @pytest.mark.parametrize("later", [False, True])
    def test_is_accepted_by_a_button_also_later(self, asked, talk, later):
        if later:
            sent(say(asked, talk, "I'm so tired today."))
        shown = words(asked.post(f"/conversations/{talk.pk}/1/answer/", {"keep": "yes"}, follow=True))
        assert "It is remembered in a moment." in shown
        assert "Without an answer" not in shown
        extract_messages(talk.pk)
        shown = words(asked.get(page(talk)))
        assert "Remembered: Your sister Ilse keeps hens." in shown
        assert "To review" not in words(asked.get("/memories/"))

    def test_is_declined_by_a_button_and_that_is_undone(self, asked, talk):
        shown = asked.post(f"/conversations/{talk.pk}/1/answer/", {"keep": "no"}, follow=True)
        assert "The message is withheld" in words(shown)
        assert "Ilse" not in words(asked.get(page(talk))).replace("Shall I remember", "")
        undo = re.search(r'action="(/undo/[^"]+)"', text(shown))[1]
        asked.post(undo)
        assert "My sister Ilse keeps hens." in words(asked.get(page(talk)))

    def test_beside_a_correction_what_was_asked_about_is_declined_and_the_correction_stays(
        self, visit, owner, talk, settings
    ):
        """Reproduction: all of the message was withheld, and the correction undone with it."""
        settings.KEEPSAKE_EMBEDDER = "hashing"
        memory = factories.MemoryFactory(user=owner, content="The user's sister Lise lives in Ghent.")
        client = visit(owner)
        sent(say(client, talk, "My sister Lise lives in Antwerp now. I have a dog called Bram."))
        extract_messages(talk.pk)
        assert "Shall I remember that you have a dog called Bram?" in words(client.get(page(talk)))
        answered, again = (
            client.post(f"/conversations/{talk.pk}/1/answer/", {"keep": "no"}, follow=True) for _pressed_twice in "12"
        )
        assert "What was asked about is withheld" in words(answered)
        assert "What was asked about is withheld" in words(again)
        extract_messages(talk.pk)
        shown = words(client.get(page(talk)))
        assert "Bram" not in shown
        assert "Updated: Your sister Lise lives in Antwerp." in shown
        assert "Without an answer" not in shown
        memory.refresh_from_db()
        assert memory.content == "The user's sister Lise lives in Antwerp."
        assert Message.objects.get(index=0).content == "My sister Lise lives in Antwerp now. [withheld]"
        client.post(re.search(r'action="(/undo/[^"]+)"', text(answered))[1])
        assert Message.objects.get(index=0).content.endswith("I have a dog called Bram.")

    @pytest.mark.parametrize("yes", [False, True])
    def test_what_was_answered_while_the_lock_was_waited_for_counts(
        self, owner, talk, visit, settings, monkeypatch, yes
    ):
        """A second press decided by what it had read before the first: a refused message was taken for an open one."""
        settings.KEEPSAKE_EMBEDDER = "hashing"
        factories.MemoryFactory(user=owner, content="The user's sister Lise lives in Ghent.")
        sent(say(visit(owner), talk, "My sister Lise lives in Antwerp now. I have a dog called Bram."))
        extract_messages(talk.pk)
        me, read, others = principal_for_person(owner.pk), learning.refusal_of_asked, [talk.pk]

        def answer_meanwhile(*asked):
            heard = read(*asked)
            if others:
                pk = others.pop()
                learning.message_release(me, pk, 0, agreed=True) if yes else learning.message_decline(me, pk, 0)
            return heard

        monkeypatch.setattr(learning, "refusal_of_asked", answer_meanwhile)
        message_refuse(me, talk.pk, 0)
        said = Message.objects.get(index=0)
        assert (said.declined, said.content) == (True, "[withheld]")
        assert not Withheld.objects.filter(message=said).exclude(cause_id=str(said.pk)).exists()

    def test_of_somebody_else_s_talk_is_not_theirs_to_answer(self, asked, visit, stranger, talk):
        for number in (1, 9):
            answer = visit(stranger).post(f"/conversations/{talk.pk}/{number}/answer/", {"keep": "yes"})
            assert answer.status_code == 404
        assert asked.post(f"/conversations/{talk.pk}/9/answer/", {"keep": "yes"}).status_code == 404
        assert Message.objects.get(index=0).held_until > timezone.now()


class TestAModelThatIsAway:
    def test_is_told_in_plain_words_and_tried_again_once(self, visit, owner, model, talk):
        model.answers(error(529, "overloaded_error"))
        client = visit(owner)
        where = sent(say(client, talk, "I keep hens."))
        shown = words(client.get(where))
        assert "The language model is overloaded just now. What you said is kept. Try again" in shown
        model.answers(spoken("How lovely."))
        sent(client.post(reverse("chat-retry", args=[talk.pk, Reply.objects.get().pk])))
        shown = words(client.get(where))
        assert "How lovely." in shown
        assert "Try again" not in shown
        again = client.post(reverse("chat-retry", args=[talk.pk, Reply.objects.get().pk]), follow=True)
        assert "This reply can't be tried again." in words(again)


class TestAnAnswerThatWasStopped:
    def test_is_asked_for_again(self, visit, owner, model, talk):
        model.answers(spoken("Once upon a time."))
        client = visit(owner)
        where = sent(say(client, talk, "Tell me a <story>."))
        assert "Ask again" not in words(client.get(where))
        Reply.objects.update(state="stopped", error_code="stopped")
        shown = text(client.get(where))
        assert 'name="content" value="Tell me a &lt;story&gt;."' in shown
        assert "You stopped it here." in words(client.get(where))
        model.answers(spoken("There was a hen."))
        shown = words(client.get(sent(say(client, talk, "Tell me a <story>."))))
        assert "There was a hen." in shown
        assert "Ask again" not in shown


class TestACommandWithoutAScript:
    """Scenarios 5 and 6 of source 001: /memory, which no model is asked about and which is not saved."""

    def test_it_is_answered_on_the_page_of_the_talk(self, visit, owner, talk):
        alec = factories.MemoryFactory(user=owner, content="Alec is the user's boss.", category="person")
        client = visit(owner)
        listed = say(client, talk, "/memory")
        assert listed.status_code == 200
        assert f"• [{alec.pk}] Alec is your boss." in text(listed)
        assert "neither it nor this answer is kept" in words(listed)
        assert "Deleted: &#x27;Alec is your boss.&#x27;" in text(say(client, talk, f"/memory delete {alec.pk}"))
        alec.refresh_from_db()
        assert alec.state == "archived"
        refused = say(client, talk, "/memory delete zzzzzzzz")
        assert (refused.status_code, "There is no memory zzzzzzzz." in words(refused)) == (404, True)
        assert ">/memory delete zzzzzzzz</textarea>" in text(refused)
        assert not Message.objects.exists()

    def test_it_begins_no_talk(self, visit, owner):
        factories.MemoryFactory(user=owner, content="Alec is the user's boss.", category="person")
        client = visit(owner)
        listed = client.post("/talk/", {"content": "/memory"})
        assert (listed.status_code, "Alec is your boss." in text(listed)) == (200, True)
        refused = client.post("/talk/", {"content": "/memory delete zzzzzzzz"})
        assert (refused.status_code, "There is no memory zzzzzzzz." in words(refused)) == (404, True)
        assert not Conversation.objects.exists()

    def test_it_leaves_what_was_chosen_for_the_talk(self, visit, owner, legacy, model):
        chosen = {"about": str(legacy.pk), "private": "on", "mode": "chat"}
        form = visit(owner).post("/talk/", {"content": "/memory", **chosen}).context["form"]
        assert {name: form[name].value() for name in ("about", "private", "mode", "content")} == {
            "about": str(legacy.pk),
            "private": True,
            "mode": "chat",
            "content": "",
        }


class TestStoppingWithoutAScript:
    def test_a_plain_form_asks_for_the_end_and_leads_back(self, visit, owner, stranger, talk):
        said = factories.MessageFactory(conversation=talk)
        running = {"state": "running", "error_code": "", "ended_at": None, "lease_until": "2100-01-01T00:00Z"}
        reply = factories.ReplyFactory(message=said, **running)
        address, client = reverse("chat-stop", args=[talk.pk, reply.pk]), visit(owner)
        assert f'action="{address}"' in text(client.get(page(talk)))
        assert visit(stranger).post(address).status_code == 404
        assert streaming.valkey_client().get(stop_key(reply.pk, 1)) is None
        assert client.post(address).url == f"{page(talk)}#end"
        assert streaming.valkey_client().get(stop_key(reply.pk, 1)).decode() == STOPPED


class TestHowItAnswers:
    def test_is_chosen_where_a_model_answers(self, visit, owner, model, talk, settings):
        client = visit(owner)
        shown = words(client.get("/talk/"))
        assert "It remembers and looks up" in shown
        assert "Several models answer" not in shown
        settings.KEEPSAKE_COUNCIL_MODELS = [MODEL, OTHER_MODEL]
        assert "Several models answer" in words(client.get("/talk/"))
        model.answers(spoken("One."), spoken("Two."), spoken("Both."))
        answer = client.post(f"/conversations/{talk.pk}/say/", {"content": "Hens or bees?", "mode": "council"})
        shown = text(client.get(sent(answer)))
        assert "Both." in shown
        assert Reply.objects.get().council == [MODEL, OTHER_MODEL]
        assert '<option value="council" selected>' in shown

    def test_a_talk_about_a_legacy_says_so_in_a_sentence(self, visit, owner, legacy, model):
        model.answers(spoken("Gladly."))
        where = sent(visit(owner).post("/talk/", {"content": "She kept bees.", "about": str(legacy.pk)}))
        assert f"About {legacy.name}. New conversation" in words(visit(owner).get(where))

    def test_is_no_choice_without_one(self, visit, owner, talk, settings):
        assert "How it answers" not in words(visit(owner).get("/talk/"))
        say(visit(owner), talk, "Hens or bees?")
        assert "How it answers" not in words(visit(owner).get(page(talk)))


class TestWhatAnAnswerUsed:
    def test_stands_below_it_with_what_it_was_shown(self, visit, owner, model, talk):
        velvet = factories.MemoryFactory(user=owner, content="The user wears green velvet.", category="preference")
        model.answers(spoken("Green velvet.", usage=USED))
        client = visit(owner)
        shown = words(client.get(sent(say(client, talk, "What do I wear?"))))
        assert "This answer: 1,140 tokens, 86% cached." in shown
        assert "It was shown 1 thing that is remembered" in shown
        told = client.get(reverse("chat-shown", args=[talk.pk, 2]))
        assert "You wear green velvet." in words(told)
        assert f"/memories/{velvet.pk}/" in text(told)
        Reply.objects.update(memories=[velvet.pk, "gone0000"])
        assert "1 more is not kept any more." in words(client.get(reverse("chat-shown", args=[talk.pk, 2])))

    def test_what_a_decision_does_is_told_once_there_is_one(self, visit, owner, model, talk):
        client = visit(owner)
        model.answers(spoken("Hello."))
        sent(say(client, talk, "Hi."))
        assert 'id="away-means" hidden>' in text(client.get(page(talk)))
        add = ("toolu_1", "add_to_memory", {"content": "Alec is the user's boss.", "category": "person"})
        model.answers(spoken(calls=[add]), spoken("Noted."))
        sent(say(client, talk, "Remember that Alec is my boss."))
        assert text(client.get(page(talk))).count('id="away-means">Don’t keep: then it is in no prompt') == 1

    def test_a_part_for_the_script_has_the_messages_with_what_was_learned(self, visit, owner, model, talk):
        add = ("toolu_1", "add_to_memory", {"content": "Alec is the user's boss.", "category": "person"})
        model.answers(spoken(calls=[add]), spoken("Noted."))
        client = visit(owner)
        sent(say(client, talk, "Remember that Alec is my boss."))
        part = client.get(reverse("chat-latest", args=[talk.pk, 1]))
        assert "<html" not in text(part)
        said = words(part)
        assert "Remembered: Alec is your boss." in said
        assert all(each in said for each in ("Undo", "Edit", "Don’t keep", "Noted."))
        assert 'id="m1"' not in text(client.get(reverse("chat-latest", args=[talk.pk, 2])))


class TestWho:
    @pytest.mark.parametrize("who", ["member", "stranger", "staff"])
    def test_nobody_else_talks_there(self, visit, request, owner, talk, who):
        client = visit(request.getfixturevalue(who))
        assert say(client, talk, "Hi.").status_code == 404
        assert client.get(reverse("chat-latest", args=[talk.pk, 1])).status_code == 404
        assert client.get(reverse("chat-shown", args=[talk.pk, 2])).status_code == 404
        assert not talk.messages.exists()

    def test_a_conversation_with_an_agent_has_no_composer(self, visit, owner, agent):
        held = factories.ConversationFactory(user=owner, agent=agent)
        assert "data-composer" not in text(visit(owner).get(page(held)))

    def test_a_page_says_that_memory_is_off(self, visit, owner, talk):
        preferences_set(principal_for_person(owner.pk), has_memory=False)
        assert "Memory is off: nothing is remembered." in words(visit(owner).get(page(talk)))
