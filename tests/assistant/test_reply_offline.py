"""The assistant without a language model: it tells what it remembers, and where that comes from."""

import io
from datetime import UTC, datetime

import pytest
from django.core.management import CommandError, call_command

from accounts.actions import preferences_set
from accounts.queries import principal_for_person
from assistant.models import Reply
from conversations.actions import messages_index
from language.backends import embedder_replaced
from language.base import ReplyRequest, Source
from language.embedders.e5.embedder import BundledEmbedder
from language.heard import Heard
from language.reading.answering import MOST_TOLD, MOST_TOLD_OF_ALL
from language.reading.questions import is_question
from language.reading.replying import (
    FOUND,
    ITSELF,
    MORE,
    NEAREST,
    NO_MODEL,
    NOT_ENGLISH,
    NOT_KEPT,
    NOTHING_FOUND,
    NOTHING_OF_YOURS,
    PRIVATE,
    QUESTIONS,
    READ,
    SWITCHED_OFF,
    TELL_ANYTHING,
    WHAT_NOW,
    WHICH_ONE,
    reply,
    stock,
)
from tests import factories
from tests.conftest import with_key
from tests.language.messages_api import spoken

from .conftest import say as say_in
from .replying import behind, named, say, text_of


def answer(question, *found, is_first=False, **heard):
    request = ReplyRequest((), (), question=question, found=found, heard=Heard(**heard), is_first=is_first)
    return "".join(reply(request)[0])


ALEC = Source("Alec is your boss at TechCorp.", "remembered on 3 May 2026")
PATIENT, MARRIED, TINS = "Rosa was patient.", "Rosa married João in 1959.", "Rosa grew plants in old tins."
TEA = Source("You like green tea.", "remembered on 4 May 2026")


def learned(text, day, stored=""):
    at = datetime(2026, 5, day, tzinfo=UTC)
    return Source(text, f"remembered on {day} May 2026", stored=stored or text.replace("You", "The user"), at=at)


class TestWhatIsOver:
    """Reproduction: "Who is my dentist?" was answered with "no longer Dr Huber" alone, as if nothing was missing."""

    @pytest.mark.parametrize("over", ["Your dentist is no longer Dr Huber.", "Your dentist is not Dr Huber any more."])
    def test_it_asks_what_holds_now(self, over):
        told = answer("Who is my dentist?", Source(over, "remembered on 3 May 2026"))
        assert told == f"{FOUND}\n- {over} (remembered on 3 May 2026)\n\n{WHAT_NOW}"

    def test_it_does_not_where_the_new_one_is_known(self):
        over = Source("Your dentist is no longer Dr Huber.", "remembered on 3 May 2026")
        told = answer("Who is my dentist?", over, Source("Your dentist is Dr Weiss.", "you said so in this talk"))
        assert told.index("Weiss") < told.index("Huber")
        assert WHAT_NOW not in told


class TestSeveralAnswers:
    """Two values of one thing are never told as equals."""

    @pytest.mark.parametrize("newest_first", [True, False])
    def test_of_what_was_replaced_only_the_newest_is_told(self, newest_first):
        found = [
            learned("You have three cats.", 4, "The user has three cats."),
            learned("You have two cats.", 3, "The user has two cats."),
        ]
        told = answer("How many cats do I have?", *(found if newest_first else found[::-1]))
        assert told == f"{FOUND}\n- You have three cats. (remembered on 4 May 2026)"

    def test_where_both_can_not_hold_it_asks_which_one_does(self):
        found = learned("Henry was born in Basel.", 3), learned("Henry was born in Bern.", 4)
        told = answer("Where was Henry born?", *found)
        assert "Basel. (remembered on 3 May 2026)" in told
        assert "Bern. (remembered on 4 May 2026)" in told
        assert told.endswith(WHICH_ONE)

    def test_where_none_of_them_answers_it_asks_nothing(self):
        found = learned("Henry was born in Basel.", 3), learned("Henry was born in Bern.", 4)
        told = answer("When was Henry born?", *found)
        assert told.startswith(NEAREST)
        assert WHICH_ONE not in told

    def test_two_times_of_one_thing_are_asked_about_where_it_is_asked_when_it_was(self):
        found = learned("You moved into the house in 2018.", 3), learned("You moved into the house in 2019.", 4)
        assert answer("When did I move into the house?", *found).endswith(WHICH_ONE)
        assert WHICH_ONE not in answer("What do you know about my house?", *found)

    def test_so_are_two_times_that_were_only_said(self):
        texts = [f"I moved into this house in {year}." for year in (2018, 2019)]
        days = [datetime(2026, 5, day, tzinfo=UTC) for day in (3, 4)]
        said = [Source(f"“{text}”", "told", True, stored=text, at=day) for text, day in zip(texts, days, strict=True)]
        assert answer("When did I move into this house?", *said).endswith(WHICH_ONE)

    def test_different_things_are_told_side_by_side(self):
        found = learned("You like tea.", 3), learned("You like coffee.", 4)
        told = answer("What do I like?", *found)
        assert "tea" in told
        assert "coffee" in told
        assert WHICH_ONE not in told


class TestInGerman:
    """Its own sentences are in the person's language; what is remembered is told as it is stored."""

    @pytest.mark.parametrize(
        ("question", "found", "heard", "told"),
        [
            (
                "What do I like?",
                [TEA],
                {},
                "Das habe ich mir gemerkt:\n- You like green tea. (remembered on 4 May 2026)",
            ),
            ("Who is Bo?", [], {}, "Dazu habe ich mir noch nichts gemerkt."),
            ("I row.", [], {"new": ["You row."]}, "Soll ich mir „You row“ merken?"),
            ("Remember that I row.", [], {"noted": ["You row.", "You sing."]}, "Ich merke mir „You row“, „You sing“."),
            ("It rains.", [], {}, "Verstanden, danke."),
            ("Hi!", [], {}, "Hallo."),
        ],
    )
    def test_the_fixed_sentences_are(self, question, found, heard, told):
        request = ReplyRequest((), (), question=question, found=found, heard=Heard(**heard), language="de")
        assert "".join(reply(request)[0]) == told

    def test_what_was_said_before_is_known_in_either_language(self):
        known = [{"role": "assistant", "content": "Wo wohnst du? (auf Englisch: „I live in …“)"}]
        request = ReplyRequest((), known, question="Hi", unknown=["city"])
        assert QUESTIONS["city"] not in "".join(reply(request)[0])

    def test_all_of_them_give_nothing_away_in_any_language(self):
        assert {READ, "Verstanden, danke."} <= stock()

    @pytest.mark.django_db(transaction=True)
    def test_it_is_the_language_of_the_person_s_preferences(self, api, owner, talk):
        preferences_set(principal_for_person(owner.pk), language="de")
        told = text_of(say(api(owner), talk(owner), "Who is Bo?"))
        assert told == (
            "Hier ist kein Sprachmodell eingerichtet, deshalb erzähle ich nur, was ich mir gemerkt habe. "
            "Dazu habe ich mir noch nichts gemerkt."
        )

    @pytest.mark.django_db(transaction=True)
    def test_it_is_the_browser_s_for_somebody_who_chose_none(self, api, owner, talk):
        page = api(owner)
        page.credentials(HTTP_ACCEPT_LANGUAGE="de-AT,de;q=0.9")
        assert text_of(say(page, talk(owner), "Who is Bo?")).startswith("Hier ist kein Sprachmodell eingerichtet")


class TestWhatItAnswers:
    @pytest.mark.parametrize(
        "question",
        ["Who is Alec?", "what do you know about Alec", "When did Alec start?", "What did I tell you about my boss?"],
    )
    def test_a_question_with_what_was_found_and_where_it_comes_from(self, question):
        told = answer(question, TEA, ALEC)
        assert "- Alec is your boss at TechCorp. (remembered on 3 May 2026)" in told
        assert "tea" not in told

    def test_a_question_with_irregular_forms_of_its_words(self):
        assert "met" in answer("When did we meet?", Source("Walter and you met in 1961.", "told"))
        assert "children" in answer("Do I have a child?", Source("You have two children.", "told"))

    @pytest.mark.parametrize(
        ("question", "text"),
        [
            ("Do I have children?", "You live in Ghent with your husband Pieter and your two girls."),
            ("Do I have any kids?", "Your daughter Mia is nine."),
            ("Do I have siblings?", "Your brother Wim lives in Canada."),
            ("What are my parents called?", "Your mother Lena is a nurse."),
            ("Do I have grandchildren?", "Your grandson Tom is four."),
        ],
    )
    def test_a_question_about_a_group_of_kin_with_those_of_it(self, question, text):
        found = [Source(each, "told") for each in (text, "You like tea.", "Your neighbour Rolf has a cousin.")]
        assert answer(question, *found) == f"{FOUND}\n- {text} (told)"

    def test_a_greeting_before_a_question_is_no_topic(self):
        assert answer("Hello again. Do you remember me?", TEA).startswith(FOUND)

    def test_what_it_wants_to_know_with_a_question_of_its_own(self):
        def asked(*unknown):
            request = ReplyRequest((), (), question="What else would you like to know?", found=[TEA], unknown=unknown)
            return "".join(reply(request)[0])

        assert asked("preferred_name") == QUESTIONS["preferred_name"]
        assert asked() == TELL_ANYTHING

    def test_a_question_of_another_s_forms_of_a_word(self):
        assert "boss at TechCorp" in answer("Who were my bosses?", ALEC)

    @pytest.mark.parametrize(
        ("question", "text"),
        [
            ("Who is Tom?", "You grow tomatoes."),
            ("Who is Ann?", "You were in Annapolis."),
            ("When did I work?", "Mira likes workshops."),
        ],
    )
    def test_a_question_not_with_a_word_that_only_begins_alike(self, question, text):
        assert answer(question, Source(text, "remembered")) == NOTHING_FOUND

    @pytest.mark.parametrize(
        ("question", "text"),
        [
            ("Where are my keys?", "Your key is under the pot."),
            ("Who worked there?", "Mira is working there as a cook."),
            ("Wo wohnt Jürgen?", "Jürgen wohnt in Köln."),
        ],
    )
    def test_a_question_with_other_forms_of_its_words(self, question, text):
        assert text in answer(question, Source(text, "remembered"))

    @pytest.mark.parametrize(
        ("question", "shown"),
        [
            ("When did Rosa get married?", [MARRIED, PATIENT]),
            ("who married rosa", [PATIENT, MARRIED]),
            ("Who is Rosa?", [PATIENT, MARRIED, TINS]),
            ("What did Rosa grow in the tins?", [PATIENT, TINS]),
        ],
    )
    def test_a_question_with_what_has_most_of_its_words_and_what_ranks_first(self, question, shown):
        told = answer(question, *(Source(each, "told") for each in (PATIENT, MARRIED, TINS, "Old boats rot.")))
        assert told == "".join([FOUND, *(f"\n- {each} (told)" for each in shown)])

    @pytest.mark.parametrize("question", ["Whom did she marry?", "what did her tins hold", "Who was Rosa?"])
    def test_whom_the_talk_is_about_where_a_pronoun_stands_for_them(self, question):
        found = [Source(each, "told") for each in ("Tom likes tins. He marries.", MARRIED, TINS)]
        assert "Tom" not in answer(question, *found, about="Rosa Almeida")
        assert answer("Who was she?", *found, about="Rosa Almeida").count("Rosa") == 2

    @pytest.mark.parametrize("question", ["How old is Mia?", "When was Mia born?", "Where does Mia sleep?"])
    def test_what_answers_nothing_as_the_nearest(self, question):
        told = answer(
            question, Source("Mia likes tea.", "remembered"), Source("The tins are 9 years old.", "remembered")
        )
        assert told == f"{NEAREST}\n- Mia likes tea. (remembered)"

    @pytest.mark.parametrize(
        ("question", "quoted"), [("When do I work?", False), ("What did I tell you of my work?", True)]
    )
    def test_what_was_said_once_only_where_that_is_asked_or_all_there_is(self, question, quoted):
        said = Source("“I work nights, from 10.”", "you said so", quoted=True)
        assert ("nights" in answer(question, said, Source("You work days, from 7.", "remembered"))) == quoted
        assert "nights" in answer(question, said)

    def test_how_old_somebody_is_with_a_figure(self):
        found = [Source(each, "remembered") for each in ("Mia likes tea.", "Mia is 7.")]
        assert answer("How old is Mia?", *found).startswith(f"{FOUND}\n- Mia is 7.")

    def test_how_old_somebody_is_with_a_number_in_words(self):
        found = [Source(each, "remembered") for each in ("Mia likes tea.", "Mia is seven.")]
        assert answer("How old is Mia?", *found).startswith(f"{FOUND}\n- Mia is seven.")

    @pytest.mark.parametrize(
        ("question", "text"),
        [
            ("When do I row?", "You row on Thursdays with your sister Lotte."),
            ("What time do I swim?", "You swim every morning."),
            ("When did I move?", "You moved in May."),
        ],
    )
    def test_when_something_is_with_a_day_or_a_time_of_day(self, question, text):
        assert answer(question, Source(text, "remembered")).startswith(f"{FOUND}\n- {text}")

    @pytest.mark.parametrize("question", ["When do I row?", "When did I learn to row?"])
    def test_when_something_is_with_the_nearest_where_no_time_is_told(self, question):
        assert answer(question, Source("You row with your sister Lotte.", "remembered")).startswith(NEAREST)

    def test_a_kind_of_what_is_asked_for_answers(self):
        landlord = Source("Your landlord is called Mr Pickering.", "remembered")
        dog = Source("You adopted a greyhound called Biscuit.", "remembered")
        assert answer("What's my dog called?", landlord, dog) == f"{FOUND}\n- {dog.text} (remembered)"
        assert answer("What's my dog called?", landlord) == NOTHING_FOUND

    @pytest.mark.parametrize(
        ("question", "told", "not_told"),
        [
            ("What's the weather like?", [], ["You like to be called Joey."]),
            ("What kind of music do I like?", [], ["You like to be called Joey."]),
            ("What flowers does mum like?", ["Your mum loves tulips."], ["You like to be called Joey."]),
            ("Tell me something about my mother", ["Your mum loves tulips."], ["Your daughter is at St. Mary's."]),
            ("What are my children's names?", ["You have two kids, Ben and Ada."], ["You have a cat named Biscuit."]),
            ("Can I eat bread?", [], ["You have a cat named Biscuit."]),
            ("Where do I live now?", ["You live in Braga."], ["“From now on, be brief.”"]),
            ("Where am I living these days?", ["You live in Braga."], ["You work as a nurse."]),
            ("How tall am I?", [], ["You have a cat named Biscuit."]),
            ("What should you call me?", ["You like to be called Joey."], ["You should be on time."]),
        ],
    )
    def test_a_question_not_with_a_word_that_is_not_its_topic(self, question, told, not_told):
        answered = answer(question, *(Source(each, "told") for each in [*not_told, *told]))
        assert [each in answered for each in told] == [True] * len(told)
        assert not any(each in answered for each in not_told)

    def test_a_question_without_a_word_in_common_with_what_stands_out_as_the_nearest(self):
        found = [Source("You drive an old Volvo.", "told", stands_out=True), Source("Mira rows.", "told")]
        assert answer("What car do I have?", *found) == f"{NEAREST}\n- You drive an old Volvo. (told)"
        assert answer("What car do I have?", found[1]) == NOTHING_FOUND
        assert answer("What car does Tom have?", *found) == NOTHING_FOUND

    @pytest.mark.parametrize("question", ["How do you remember things?", "How do you work?", "What can you do?"])
    def test_a_question_about_itself(self, question):
        assert answer(question, ALEC) == f"{NO_MODEL} {ITSELF}"
        assert answer("What's my greyhound called?", Source("You have a dog.", "remembered")) == NOTHING_FOUND

    def test_teaching_a_subject_is_work(self):
        work = Source("You teach chemistry at a secondary school.", "remembered")
        others = Source("You taught Sam to swim.", "remembered")
        assert answer("Where do I work?", others, work) == f"{FOUND}\n- {work.text} (remembered)"

    @pytest.mark.parametrize(
        "others",
        ["You have a brother called Piet who plays the cello.", "Your brother Piet plays the cello."],
    )
    def test_what_the_person_does_not_with_what_others_do(self, others):
        theirs = Source(others, "remembered")
        assert answer("What instrument do I play?", theirs) == f"{NOTHING_OF_YOURS}\n- {others} (remembered)"
        told = answer("what do i play?", theirs, Source("You play the viola.", "remembered"))
        assert ("viola" in told, "cello" in told) == (True, False)
        assert "cello" in answer("What does Piet play?", theirs)

    def test_what_they_said_themselves_is_of_no_others(self):
        said = Source("“Remember that I park on level 3.”", "you said so", quoted=True)
        assert answer("Where do I park?", said) == f"{FOUND}\n- {said.text} (you said so)"

    @pytest.mark.parametrize("said", ["Ich trinke jeden Morgen grünen Tee.", "Bebo té verde cada mañana."])
    def test_a_sentence_of_another_language_names_nobody(self, said):
        assert answer(said) == NOT_ENGLISH

    def test_a_language_is_nobody(self):
        assert "Who is" not in answer("I think I would like to learn Italian someday.")
        assert "Who is Zoltan?" in answer("I think I would like to marry Zoltan someday.")

    def test_what_it_knows_of_the_person_themselves(self):
        of_rosa = Source(PATIENT, "shared fact", of_legacy=True)
        assert answer("What do you know about me?", of_rosa, ALEC, TEA).count("\n- ") == 2
        assert answer("What do you know?", of_rosa, ALEC, TEA).count("\n- ") == 3

    def test_a_question_about_something_else_with_no(self):
        assert answer("Who is Sarah?", ALEC, TEA) == NOTHING_FOUND

    @pytest.mark.parametrize(
        ("question", "text"),
        [("Who's Zoe?", "Mira's boat is red."), ("Wer ist Sarah?", "Mira ist die Chefin."), ("Any idea?", "")],
    )
    def test_a_question_not_with_the_words_that_make_it_one(self, question, text):
        nothing = NOT_ENGLISH if question.startswith("Wer") else NOTHING_FOUND
        assert answer(question, *([Source(text, "remembered")] if text else [])) == nothing

    @pytest.mark.parametrize(
        "question",
        [
            "Who are you?",
            "are you a language model",
            "Are you human?",
            "Wer bist du?",
            "How are you?",
            "hi, how are you doing today",
            "Why did you say that?",
            "What do you mean?",
            "Do you like jazz?",
            "Who’s your favourite?",
            "How old are you?",
        ],
    )
    def test_a_question_about_itself_without_pretending(self, question):
        assert answer(question, ALEC, TEA) == f"{NO_MODEL} {ITSELF}"
        assert answer(question, ALEC, is_first=True) == f"{NO_MODEL} {ITSELF}"

    @pytest.mark.parametrize(
        "text",
        [
            "who's Mira",
            "whos Mira",
            "wheres my umbrella",
            "whats my wifes name",
            "do u know my birthday",
            "tell me about Mira",
            "what do you know about my dog",
            "when did I move to Lisbon",
            "which team does Sarah work on",
            "is Alec my boss?",
            "what about Rex",
            "I wonder when I moved to Lisbon",
            "Hi, who is Alec",
        ],
    )
    def test_what_is_asked_without_a_question_mark_too(self, text):
        assert is_question(text)

    @pytest.mark.parametrize(
        "text",
        [
            "When I was a child, I lived in Porto.",
            "Where I live it rains a lot.",
            "What I like is green tea.",
            "What a day!",
            "How nice.",
            "Have a nice day.",
            "Remember that Zoe is my aunt.",
        ],
    )
    def test_nothing_where_nothing_is_asked(self, text):
        assert not is_question(text)

    def test_what_is_told_that_it_was_read(self):
        assert answer("Alec is my boss.", ALEC) == READ

    def test_a_few_at_most(self):
        found = [Source(f"Alec has {n} dogs.", "remembered") for n in range(9)]
        assert answer("What dogs does Alec have?", *found).count("\n- ") == MOST_TOLD
        assert answer("Who is Alec?", *found).count("\n- ") == MOST_TOLD_OF_ALL

    def test_whom_it_does_not_know_with_one_question(self):
        assert answer("Yesterday we talked with Sarah and Tom.", ALEC) == "Who is Sarah?"
        assert answer("Yesterday we talked with Alec.", ALEC) == READ
        assert answer("We had two girls, Susan and Pauline.", ALEC) == READ
        assert answer("The best of them was called Duchess.", ALEC) == READ
        assert answer("We flew to Oslo and stayed in Bergen.", ALEC) == READ
        assert answer("It was cold at St James's, and at New Cross too.", ALEC) == READ

    @pytest.mark.parametrize(
        ("said", "told"),
        [
            ("hi there", f"Hello. {QUESTIONS['city']}"),
            ("Thanks, that's all", "You're welcome."),
            ("ok bye", "Goodbye."),
            ("It rains.", QUESTIONS["city"]),
        ],
    )
    def test_manners_and_one_question_about_what_is_not_known(self, said, told):
        request = ReplyRequest((), (), question=said, unknown=["city", "interests"])
        assert "".join(reply(request)[0]) == told

    def test_no_question_twice_and_none_after_another(self):
        def told(*earlier):
            messages = [{"role": "assistant", "content": each} for each in earlier]
            return "".join(reply(ReplyRequest((), messages, question="It rains.", unknown=["city", "interests"]))[0])

        assert told(QUESTIONS["city"]) == READ
        assert told(QUESTIONS["city"], READ) == QUESTIONS["interests"]
        assert told(QUESTIONS["city"], QUESTIONS["interests"], READ) == READ

    def test_what_is_said_with_what_it_noted(self):
        told = answer("x", noted=("You live in Porto.",), new=("Alec is your boss.",))
        assert told == "I will remember that you live in Porto. Shall I remember that Alec is your boss?"
        assert answer("x", told=("Henry was a watchmaker.",)) == "Noted: Henry was a watchmaker."

    def test_a_question_with_something_new_with_both(self):
        told = answer("Alec is my boss. Who is Tom?", new=("Alec is your boss.",))
        assert told == f"{NOTHING_FOUND}\n\nShall I remember that Alec is your boss?"

    def test_that_there_is_no_model_once(self):
        assert answer("Hi.", is_first=True) == f"{NO_MODEL} Hello."
        assert NO_MODEL not in answer("Hi.")


@pytest.mark.django_db(transaction=True)
class TestOverHTTP:
    @pytest.fixture(autouse=True)
    def _offline(self, settings):
        settings.KEEPSAKE_EMBEDDER = "hashing"

    def test_it_holds_a_conversation_from_what_it_remembers(self, api, owner, talk):
        factories.MemoryFactory(user=owner, content="Alec is the user's boss at TechCorp.", subject="Alec")
        say_in(owner, talk(owner), "I sold the red boat to Mira.")
        client, conversation = api(owner), talk(owner)
        first = say(client, conversation, "Who is Alec?")
        assert text_of(first).startswith(NO_MODEL)
        assert "- Alec is your boss at TechCorp. (remembered on " in text_of(first)
        second = text_of(say(client, conversation, "What did I tell you about the boat?"))
        assert "- “I sold the red boat to Mira.” (you said so on " in second
        assert NO_MODEL not in second
        assert "tell me about" not in text_of(say(client, conversation, "tell me about the boat"))
        assert "tell me about" not in text_of(say(client, conversation, "Where is the boat?"))
        assert text_of(say(client, conversation, "Who is Sarah?")) == NOTHING_FOUND
        assert text_of(say(client, conversation, "I like green tea.")) == "Shall I remember that you like green tea?"
        assert named(first, "done")[0]["usage"] == {"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0}
        assert set(Reply.objects.values_list("model", "state")) == {("offline rules 1", "done")}

    def test_it_tells_what_was_said_in_this_talk_and_waits_for_a_yes_but_not_what_was_declined(self, api, owner, talk):
        client, conversation = api(owner), talk(owner)
        say(client, conversation, "My son Omar is nine.")
        assert "- Your son Omar is nine. (you said so in this talk)" in text_of(
            say(client, conversation, "How old is Omar?")
        )
        assert text_of(say(client, talk(owner), "How old is Omar?")).endswith(NOTHING_FOUND)
        say(client, conversation, "I play the harp.")
        assert text_of(say(client, conversation, "No, don't remember that.")) == NOT_KEPT
        told = text_of(say(client, conversation, "What do you know about me?"))
        assert "Omar" in told
        assert "harp" not in told

    def test_it_tells_what_was_said_of_a_legacy_in_this_talk_and_is_no_fact_yet(self, api, owner, talk):
        legacy = factories.LegacyFactory(owner=owner, name="Walter")
        client, conversation = api(owner), talk(owner, legacy=legacy)
        told = text_of(
            say(client, conversation, "Walter was an engine driver. He kept pigeons. He married me in 1962.")
        )
        assert "Noted: Walter was an engine driver." in told
        assert "- Walter was an engine driver. (you said so in this talk)" in text_of(
            say(client, conversation, "What do you know about Walter?")
        )
        assert "- Walter married you in 1962. (you said so in this talk)" in text_of(
            say(client, conversation, "When did he marry me?")
        )
        assert "Walter" not in text_of(say(client, conversation, "What do you know about me?"))

    def test_what_it_knows_of_the_person_is_what_is_remembered_however_much_was_said(self, api, owner, talk):
        for content in ("The user rows on Tuesdays.", "The user collects stamps.", "I like to be called Jo."):
            factories.MemoryFactory(user=owner, content=content)
        elsewhere = talk(owner)
        for number in range(14):
            factories.MessageFactory(conversation=elsewhere, content=f"You know about me, {number}.")
        messages_index()
        told = text_of(say(api(owner), talk(owner), "What do you know about me?"))
        assert "You row on Tuesdays." in told
        assert "You collect stamps." in told
        assert "- “I like to be called Jo.” (remembered" in told, "the assistant does not say it of itself"
        assert "You know about me" not in told

    def test_what_puts_a_memory_in_doubt_is_asked_about_first_and_then_the_memory(self, api, owner, talk):
        factories.MemoryFactory(user=owner, content="The user owns a boat and a car.")
        with embedder_replaced(BundledEmbedder()):
            conversation = talk(owner)
            asked = text_of(say(api(owner), conversation, "I gave the boat away yesterday."))
            told = text_of(say(api(owner), conversation, "Yes"))
        assert "Shall I remember that you gave the boat away" in asked
        assert "This waits for your answer: You own a boat and a car. Does it still hold?" in told
        assert "I will remember that you gave the boat away" in told

    def test_of_much_it_tells_first_who_they_are_and_that_there_is_more(self, api, owner, talk):
        for number in range(12):
            factories.MemoryFactory(user=owner, content=f"The user keeps umbrella {number} at work.", importance=3)
        factories.MemoryFactory(user=owner, content="The user is allergic to peanuts.")
        factories.MemoryFactory(user=owner, content="The user likes to be called Jo.", field="preferred_name")
        told = text_of(say(api(owner), talk(owner), "What do you know about me?")).split("\n- ")
        assert [each.partition(" (")[0] for each in told[1:3]] == [
            "You like to be called Jo.",
            "You are allergic to peanuts.",
        ]
        assert told[-1].endswith(MORE)

    @pytest.mark.parametrize("how", ["has_memory", "private"])
    def test_it_tells_nothing_with_memory_off(self, api, owner, talk, how):
        factories.MemoryFactory(user=owner, content="Alec is the user's boss at TechCorp.", subject="Alec")
        if how == "has_memory":
            preferences_set(principal_for_person(owner.pk), has_memory=False)
        events = say(api(owner), talk(owner, private=how == "private"), "Who is Alec?")
        assert text_of(events) == f"{NO_MODEL} {PRIVATE if how == 'private' else SWITCHED_OFF}"

    def test_it_tells_an_agent_nothing_of_categories_that_are_not_its_own(self, api, owner, talk):
        factories.MemoryFactory(user=owner, content="The user wears green velvet.", category="style")
        planner = with_key(factories.AgentFactory(owner=owner, role="planner"))
        conversation = factories.ConversationFactory(user=owner, agent=planner)
        assert NOTHING_FOUND in text_of(say(api(planner), conversation, "Do I wear velvet?"))


@pytest.mark.django_db(transaction=True)
class TestInTheTerminal:
    @pytest.fixture(autouse=True)
    def _offline(self, settings):
        settings.KEEPSAKE_EMBEDDER = "hashing"

    def test_each_line_is_answered(self, owner, monkeypatch):
        factories.MemoryFactory(user=owner, content="Alec is the user's boss at TechCorp.", subject="Alec")
        monkeypatch.setattr("sys.stdin", io.StringIO("Who is Alec?\n\nI like tea.\n"))
        told = io.StringIO()
        call_command("chat", as_user="owner", stdout=told)
        first, second = told.getvalue().strip().rsplit("\n", 1)
        assert "Alec is your boss at TechCorp." in first
        assert second == "Shall I remember that you like tea?"
        assert Reply.objects.filter(state="done", user=owner).count() == 2

    def test_nobody_unknown_talks(self, db):
        with pytest.raises(CommandError, match="nobody called ghost"):
            call_command("chat", as_user="ghost")


@pytest.mark.django_db(transaction=True)
class TestWithAModelInTheTerminal:
    @pytest.fixture(autouse=True)
    def _model_behind_the_api(self, settings, server):
        behind(settings, server)

    def test_an_answer_is_written_as_it_comes(self, owner, server, monkeypatch):
        class Told(io.StringIO):
            parts = []

            def write(self, text):
                self.parts.append(text)
                return super().write(text)

        server.answers(spoken("Hello, ", "Olga."))
        monkeypatch.setattr("sys.stdin", io.StringIO("Hi.\n"))
        call_command("chat", as_user="owner", stdout=Told())
        assert [part for part in Told.parts if part.strip()] == ["Hello, ", "Olga."]
