"""Natural talk over HTTP without a model: corrections keep the rest, topics are understood, limits are told."""

from datetime import timedelta

import pytest
from django.utils import timezone

from assistant.learn import actions as learning
from conversations.actions import messages_index
from conversations.models import Conversation
from language.base import ReplyRequest, Source
from language.reading.questions import asks_for_work
from language.reading.replying import (
    CANNOT,
    FOUND,
    NEAREST,
    NO_MODEL,
    NO_SECRETS,
    NOT_ENGLISH,
    NOTHING_FOUND,
    NOTHING_OF_YOURS,
    PRIVATE,
    READ,
    TALKED,
    reply,
)
from language.reading.revising import find_rescheduling, in_third_person, parts_of
from language.reading.topics import topics_of
from memories.models import Memory
from tests import factories

from .conftest import say as say_in
from .replying import remembered, say, telling, text_of


@pytest.fixture
def tell(settings, api, owner, conversation):
    settings.KEEPSAKE_EMBEDDER = "hashing"
    tell = telling(api(owner), conversation)
    return lambda content, where=conversation: tell(content, where).removeprefix(f"{NO_MODEL} ")


@pytest.mark.django_db(transaction=True)
class TestACorrection:
    @pytest.mark.parametrize(
        ("known", "said", "now"),
        [
            (
                "The user plays the cello in an amateur orchestra on Tuesdays.",
                "Actually, I don't play on Tuesdays anymore, rehearsals moved to Thursday.",
                "The user plays the cello in an amateur orchestra on Thursdays.",
            ),
            (
                "The user swims on Monday evenings at the lido.",
                "I don't swim on Mondays any more.",
                "The user swims at the lido.",
            ),
            (
                "The user's appointment with Dr. Patel is on the Friday after 25 November 2026 at 10.",
                "dr patel's appointment got moved to monday",
                "The user's appointment with Dr. Patel is on the Monday after 25 November 2026 at 10.",
            ),
            (
                "The user has choir practice on Thursdays.",
                "We used to have choir practice on Thursdays; since September it's on Fridays.",
                "The user has choir practice on Fridays.",
            ),
            (
                "The user lives in Utrecht and the user's wife Ingrid plays the harp.",
                "I moved to Bruges in May 2020.",
                "The user moved to Bruges in May 2020 and the user's wife Ingrid plays the harp.",
            ),
            (
                "I live in Ghent and my sister Ilse is a vet.",
                "I moved to Bruges in May 2020.",
                "The user moved to Bruges in May 2020 and the user's sister Ilse is a vet.",
            ),
            (
                "The user works as a paramedic in Leeds.",
                "no wait, i'm not a paramedic anymore, i'm a dispatcher now",
                "The user is a dispatcher.",
            ),
        ],
    )
    def test_keeps_the_rest_and_is_told_without_being_asked_about(self, tell, owner, known, said, now):
        factories.MemoryFactory(user=owner, content=known)
        told = tell(said)
        assert told.startswith("Updated: ")
        assert "Until now I had: " in told
        assert remembered() == [now]

    def test_by_a_pronoun_right_after_it_was_said(self, tell):
        tell("Remember that my dog is called Biscuit.")
        told = tell("Actually, he is called Bagel.")
        assert told == "Updated: Your dog is called Bagel. Until now I had: Your dog is called Biscuit."
        assert list(Memory.objects.values_list("content", "subject")) == [("The user's dog is called Bagel.", "Bagel")]

    def test_in_the_person_s_own_words_is_quoted(self, tell, owner):
        factories.MemoryFactory(user=owner, content="I live in Ghent.", field="city")
        assert tell("I moved to Bruges in May 2020.") == (
            "Updated: You moved to Bruges in May 2020. Until now I had: “I live in Ghent.”"
        )

    def test_that_an_agent_tells_waits_where_it_is_theirs_to_say_and_is_not_told_as_done(self, tell, api, owner, agent):
        memory = factories.MemoryFactory(user=owner, content="The user lives in Ghent.", field="city")
        opened = api(agent).post("/api/v1/conversations/", {}, format="json").json()["id"]
        talk = Conversation.objects.get(pk=opened)
        told = text_of(say(api(agent), talk, "I moved to Bruges in May 2020.")).removeprefix(f"{NO_MODEL} ")
        learning.extract_messages(talk.pk)
        assert told == "This waits until you approve it: You moved to Bruges in May 2020."
        memory.refresh_from_db()
        assert memory.content == "The user lives in Ghent."
        assert memory.proposals.filter(state="waiting").exists()

    def test_of_what_was_agreed_to_and_waits_is_not_asked_about_beside_it(self, api, agent, settings):
        """Reproduction: "Shall I remember that you moved to Leeds?" beside the waiting "You live in Glasgow."."""
        settings.KEEPSAKE_EMBEDDER = "hashing"
        opened = api(agent).post("/api/v1/conversations/", {}, format="json").json()["id"]
        tell = telling(api(agent), Conversation.objects.get(pk=opened))
        tell("I live in Glasgow.")
        assert tell("yes") == "This waits until you approve it: You live in Glasgow."
        assert tell("Actually I moved to Leeds") == "This waits until you approve it: You moved to Leeds."

    def test_where_one_lives_counts_at_once_and_is_found(self, tell, owner):
        factories.MemoryFactory(user=owner, content="The user lives in Ghent.", field="city")
        tell("I moved to Bruges last week.")
        told = tell("Where do I live?")
        assert "Bruges" in told
        assert "Ghent" not in told

    def test_of_what_waits_for_an_answer_is_what_is_asked_about_and_told(self, tell):
        tell("I play the cello in an amateur orchestra on Tuesdays.")
        told = tell("Actually, I don't play on Tuesdays anymore, rehearsals moved to Thursday.")
        assert told == "Shall I remember that you play the cello in an amateur orchestra on Thursdays?"
        told = tell("When do I play the cello?")
        assert "on Thursdays. (you said so in this talk)" in told
        assert "Tuesdays. (you" not in told

    def test_is_told_with_what_was_said_before_it(self, tell, owner, talk):
        tell("I play the cello in an orchestra on Tuesdays.")
        tell("yes")
        tell("I don't play on Tuesdays anymore, rehearsals moved to Thursday.")
        messages_index()
        told = tell("What did I tell you about the cello?", talk(owner))
        assert "on Tuesdays. [since changed]” (you said so on " in told
        assert "now it is: You play the cello in an orchestra on Thursdays.)" in told

    def test_that_was_not_understood_is_told_with_what_was_said_before_it(self, tell, owner, talk):
        elsewhere = talk(owner)
        say_in(owner, elsewhere, "The quilting circle met at Ada's on Tuesdays.")
        say_in(owner, elsewhere, "Sorry, the quilting circle met at Bea's, not Ada's.")
        told = tell("What did I tell you about quilting on Tuesdays?")
        assert "later you said: “Sorry, the quilting circle met at Bea's, not Ada's.”" in told

    def test_a_message_that_is_partly_withheld_is_quoted_without_the_mark(self, tell, owner, talk):
        elsewhere = factories.ConversationFactory(user=owner)
        content = "[withheld] The pottery class moved to Wednesdays."
        factories.MessageFactory(conversation=elsewhere, content=content)
        messages_index()
        told = tell("What did I tell you about the pottery class?")
        assert "“… The pottery class moved to Wednesdays.”" in told

    def test_of_one_day_does_not_end_what_is_on_another(self, tell, owner):
        factories.MemoryFactory(user=owner, content="The user does not play on Tuesdays anymore.")
        assert tell("I play chess on Fridays.") == "Shall I remember that you play chess on Fridays?"
        assert remembered() == ["The user does not play on Tuesdays anymore."]

    def test_does_not_take_something_else_of_the_same_kind_along(self, tell, owner):
        factories.MemoryFactory(user=owner, content="The user is vegetarian since 2015.")
        factories.MemoryFactory(user=owner, content="The user plays tennis on Mondays.")
        tell("I'm not a paramedic anymore, I'm a dispatcher now.")
        tell("I see Anna on Fridays now.")
        assert remembered()[-2:] == ["The user is vegetarian since 2015.", "The user plays tennis on Mondays."]


@pytest.mark.django_db(transaction=True)
class TestWhatIsAsked:
    @pytest.mark.parametrize(
        ("question", "known"),
        [
            ("What did I tell you about my work?", "The user is a night nurse at St. Luke's hospital."),
            ("what do i do for a living?", "The user drives a tram in Utrecht."),
            ("what pets do i have?", "The user has a cat named Pixel."),
            ("What do you know about my health?", "The user is allergic to penicillin."),
            ("What do you know about my family?", "The user's brother Owen has two dogs."),
            ("What are my plans?", "The user wants to learn Portuguese."),
            ("What is my name?", "The user's name is Nora."),
            ("Do I have any pets?", "The user has a rabbit called Pop."),
            ("Where do I work?", "The user is a midwife in Bern."),
            ("What's my job?", "The user bakes bread for a living."),
            ("What are my hobbies?", "The user plays the cello in an orchestra."),
        ],
    )
    def test_a_topic_is_answered_by_what_tells_of_it(self, tell, owner, question, known):
        factories.MemoryFactory(user=owner, content="The user likes peppermint tea.")
        factories.MemoryFactory(user=owner, content=known)
        told = tell(question)
        assert told.startswith(FOUND)
        assert told.count("\n- ") == 1
        assert "tea" not in told

    def test_what_one_does_not_with_what_others_do(self, tell, owner):
        factories.MemoryFactory(user=owner, content="The user's wife Ingrid plays the harp.")
        assert tell("what instrument do I play?").startswith(f"{NOTHING_OF_YOURS}\n- Your wife Ingrid plays the harp.")

    def test_what_is_known_of_whom_a_talk_is_about_is_not_crowded_out(self, tell, owner, talk):
        legacy = factories.LegacyFactory(owner=owner, name="Rosa Almeida")
        for content in ("Rosa married João in 1959.", "Rosa's favourite dish was sardines.", "Rosa was patient."):
            factories.LegacyFactFactory(legacy=legacy, content=content)
        for number in range(14):
            say_in(owner, talk(owner), f"What I know about Rosa, {number}.")
        messages_index()
        about = talk(owner, legacy=legacy)
        told = tell("What do you know about Rosa?", about)
        assert ("1959" in told, "sardines" in told, "patient" in told) == (True, True, True)
        told = tell("Who was Rosa's husband?", about)
        assert told.startswith(FOUND)
        assert "- Rosa married João in 1959." in told
        assert tell("What was her favourite colour?", about).startswith(NEAREST)

    def test_what_was_talked_about_is_what_was_said(self, tell, owner, talk):
        before = talk(owner)
        say_in(owner, before, "The old lighthouse was sold.")
        tell("I keep bees in the garden.")
        tell("No, thanks.")
        tell("The bus was late again.")
        tell("My PIN is 4711.")
        told = tell("What did we talk about today?")
        assert told.startswith(f"{TALKED}\n- “The old lighthouse was sold.” (today)")
        assert "- “The bus was late again.” (today)" in told
        assert "bees" not in told, "it was declined"
        assert tell("What did I tell you today?") == told
        assert "4711" not in told
        assert "lighthouse" not in tell("What did we talk about?")
        assert "lighthouse" in tell("What did we talk about last time?")
        before.messages.update(at=timezone.now() - timedelta(days=1))
        assert "lighthouse" in tell("What did we talk about yesterday?")
        assert tell("What did we talk about yesterday?", talk(owner, private=True)) == PRIVATE

    def test_what_somebody_does_is_their_work(self, tell, owner):
        """Reproduction: everything that is remembered was told."""
        factories.MemoryFactory(user=owner, content="The user is a retired bus driver.")
        factories.MemoryFactory(user=owner, content="The user likes jazz.")
        for question in ("what do i do?", "What do I do for a living?"):
            told = tell(question)
            assert "retired bus driver" in told
            assert "jazz" not in told

    def test_a_question_without_its_mark_is_no_statement(self, tell):
        """Reproduction: "Shall I remember that Does you have kids?"."""
        for question in ("do i have kids", "did I work in a hospital", "does my wife work", "did my brother have kids"):
            assert tell(question) == NOTHING_FOUND

    @pytest.mark.parametrize("question", ["what else do you know", "What do you know so far?"])
    def test_what_is_known_is_of_the_person(self, tell, owner, question):
        factories.MemoryFactory(user=owner, content="The user likes jazz.")
        assert "You like jazz." in tell(question)

    def test_what_somebody_gave_up_is_forgotten_by_its_name(self, tell):
        """Reproduction: the memory stayed, and "All right, I keep nothing of that." was said."""
        tell("I quit smoking in March.")
        tell("yes")
        assert remembered() == ["The user quit smoking in March."]
        tell("please forget everything about smoking")
        assert remembered() == []

    @pytest.mark.parametrize(
        "said",
        [
            "Can you write me a short poem about herons?",
            "translate this into French: good night",
            "how much is 17 times 23?",
            "Could you explain how vaccines work?",
            "Why is the sky blue?",
            "Remind me to buy milk tomorrow",
            "Tell me a joke",
            "What time is it?",
            "What should I cook tonight?",
        ],
    )
    def test_what_only_a_model_could_do_is_told_so(self, tell, said):
        assert tell(said) == CANNOT

    @pytest.mark.parametrize(
        "said",
        [
            "Can you tell me where I live?",
            "could you remind me when I swim?",
            "Have a nice day",
            "I write poems.",
            "What time is my bus?",
        ],
    )
    def test_what_needs_no_model_is_not(self, said):
        assert not asks_for_work(said)


@pytest.mark.django_db(transaction=True)
class TestWhatIsSaidInPassing:
    def test_who_is_tired_is_not_asked_about_somebody(self, tell):
        assert tell("I'm so tired today, the bus was late again.") == READ

    def test_a_code_is_not_kept_and_why(self, tell):
        assert tell("my pin is 4821") == NO_SECRETS % {"kind": "password or code"}
        assert remembered() == []

    def test_what_is_said_beside_a_code_is_asked(self, tell):
        """Reproduction: nothing of it was kept."""
        answer = tell("my dog is called Bello and my PIN is 4812")
        assert answer == f"{NO_SECRETS % {'kind': 'password or code'}} Shall I remember that your dog is called Bello?"
        tell("yes")
        assert remembered() == ["The user's dog is called Bello."]

    def test_who_is_not_to_be_kept_is_not_asked_about(self, tell):
        tell("My sister Ilse is a vet.")
        tell("No, don't remember that.")
        assert tell("I'm meeting Ilse at 6 tonight") == READ

    @pytest.mark.parametrize(
        "said",
        [
            "Hallo! Ich arbeite als Hebamme in Freiburg.",
            "Merk dir, dass mein Fahrrad im Keller steht.",
            "Was weißt du über mein Fahrrad?",
            "Je suis infirmière à Lyon.",
        ],
    )
    def test_what_is_not_english_is_not_read_as_if_it_were(self, tell, said):
        assert tell(said) == NOT_ENGLISH
        assert remembered() == []

    def test_a_german_question_about_oneself_is_answered(self, tell, owner):
        factories.MemoryFactory(user=owner, content="The user likes peppermint tea.")
        assert "peppermint" in tell("Was weißt du über mich?")

    def test_a_day_of_the_week_is_nobody(self, tell):
        assert "Who is" not in tell("The circle and I liked Thursdays best of all.")

    def test_in_a_private_talk_it_says_that_nothing_is_kept(self, tell, owner, talk):
        private = talk(owner, private=True)
        assert tell("Remember that my favourite colour is teal.", private) == PRIVATE
        assert tell("Where do I live?", private) == PRIVATE
        assert remembered() == []

    def test_nothing_about_nobody(self, tell):
        assert tell("Who is Einstein?") == NOTHING_FOUND


class TestParts:
    @pytest.mark.parametrize(
        ("memory", "parts"),
        [
            (
                "I can't eat shellfish and I'm learning Portuguese",
                ("The user cannot eat shellfish.", "The user is learning Portuguese."),
            ),
            ("The user works at Lidl and plays chess.", ("The user works at Lidl.", "The user plays chess.")),
            ("The user likes tea and coffee.", ("The user likes tea and coffee.",)),
        ],
    )
    def test_a_memory_is_parted_into_what_stands_by_itself(self, memory, parts):
        assert parts_of(memory) == parts

    def test_own_words_that_are_not_read_whole_stay(self):
        own = "I live in Ghent and maybe I'll move to Spain."
        assert in_third_person(own) == own

    @pytest.mark.parametrize(
        ("said", "days"),
        [
            ("Practice moved from Tuesday to Thursday.", ("tues", "thurs")),
            ("It's on Thursday instead of Tuesday now.", ("tues", "thurs")),
            ("It was moved to Friday.", ("", "fri")),
            ("I haven't moved it to Thursday.", None),
            ("We meet on Monday.", None),
            ("Has it moved to Monday?", None),
        ],
    )
    def test_another_day_is_told_from_what_is_no_change(self, said, days):
        moved = find_rescheduling(said)
        assert (None if moved is None else (moved.old_day, moved.new_day)) == days

    def test_a_statement_tells_of_topics(self):
        assert topics_of("You moved to Porto and your wife Ana is a nurse.") == {"home", "family", "marriage"}

    def test_one_word_of_a_topic_among_others_is_no_topic(self):
        request = ReplyRequest((), (), question="When is my work party?", found=[Source("You are a nurse.", "told")])
        assert "".join(reply(request)[0]) == NOTHING_FOUND
