"""Corrections that name only the new value, right after the statement, and what only looks like one."""

from datetime import date

import pytest

from language.base import KnownMemory, ToolRequest
from language.reading.choosing import ADD, UPDATE, choose
from language.reading.kinds import subject_after
from language.reading.second_tries import second_try
from tests.language.offline_talk import MEMORY_CATEGORIES, conversation
from tests.language.test_offline_choosing import TOOLS

DOG = "My dog is called Biscuit.", "The user's dog is called Biscuit."


def calls(*said, memory=""):
    known = [KnownMemory("AAAAAAAA", "other", "", memory, "", date(2023, 1, 1))] if memory else []
    request = ToolRequest(conversation(*said).messages, "Ana", known, TOOLS, MEMORY_CATEGORIES, 20)
    return [(call.name, call.arguments) for call in choose(request)]


@pytest.mark.parametrize(("first", "then", "content"), [
    (DOG[0], "Actually, he is called Bagel.", "The user's dog is called Bagel."),
    (DOG[0], "Oops, his name is Bagel.", "The user's dog is called Bagel."),
    (DOG[0], "I meant Bagel.", "The user's dog is called Bagel."),
    (DOG[0].lower(), "sorry i meant bagel", "The user's dog is called Bagel."),
    ("I have a parrot called Rex.", "No wait, she's named Roxy.", "The user has a parrot called Roxy."),
    ("My daughter is eight.", "No wait, she's nine.", "The user's daughter is nine."),
    ("My car is a Volvo.", "Sorry, it's a Saab.", "The user's car is a Saab."),
    ("I play the cello.", "I meant viola.", "The user plays the viola."),
    ("My sister lives in Hull.", "No wait, Leeds.", "The user's sister lives in Leeds."),
    ("My sister Paula lives in Braga.", "Sorry, I meant Porto.", "The user's sister Paula lives in Porto."),
    ("My sister Paula lives in Braga.", "Sorry, I meant Carla.", "The user's sister Carla lives in Braga."),
    ("My sister Paula lives in Braga.", "Sorry, I meant Paola.", "The user's sister Paola lives in Braga."),
    ("My brother Lars lives in Leeds.", "I meant Lyon.", "The user's brother Lars lives in Lyon."),
    ("We have three kids.", "No, two. I was only joking.", "The user has two kids."),
    ("We have three kids.", "no, 2", "The user has two kids."),
    ("My brother is called Frank.", "No, Fred.", "The user's brother is called Fred."),
    ("We are moving to Porto in May.", "I meant Faro.", "The user is moving to Faro in May."),
    ("My son plays the trumpet in a brass band.", "Oops, the trombone, I mean.",
     "The user's son plays the trombone in a brass band."),
])  # fmt: skip
def test_takes_the_place_of_what_was_said_just_before(first, then, content):
    assert [told["content"] for _, told in calls(first, "guide>I see.", then)] == [content]


def test_rewords_the_memory_and_does_not_add_it_again():
    ((name, told),) = calls(DOG[0], "guide>Noted.", "Thanks.", "Actually, he is called Bagel.", memory=DOG[1])
    assert (name, told["memory_id"], told["content"]) == (UPDATE, "AAAAAAAA", "The user's dog is called Bagel.")
    assert told["correction"]


def test_a_no_with_a_name_may_answer_a_question_instead():
    said = calls("My brother is called Frank.", "guide>I see. Is Frank the eldest?", "No, Fred.")
    assert [told["content"] for _, told in said] == ["The user's brother is called Frank."]


@pytest.mark.parametrize(("first", "then"), [
    (DOG[0], "No, Maria lives there."),
    (DOG[0], "No, two."),
    ("My sister has three kids and four cats.", "No, two. I was joking."),
    ("My sister lives in Hull.", "No, Maria."),
    (DOG[0], "Actually, he is lovely."),
    (DOG[0], "Actually, he likes ham."),
    (DOG[0], "Sorry, it's late."),
    (DOG[0], "Sorry, Maria."),
    ("My sister Paula lives in Braga.", "Sorry, I meant Pombal."),
    ("I moved from Lyon to Paris.", "Sorry, I meant Leeds."),
    (DOG[0], "Actually, I meant to ask about dinner."),
    (DOG[0], "Actually, is he called Bagel?"),
    ("My dog is called Biscuit and my cat is called Momo.", "Actually, she is called Mimi."),
    ("My cat is two.", "Actually it is black."),
    ("My sister lives in Hull.", "Actually, he lives in Leeds."),
    ("I play the cello.", "Actually, it's Tuesday."),
    ("I play the cello.", "Sorry, I meant the other one."),
])  # fmt: skip
def test_what_says_something_else_puts_nothing_in_its_place(first, then):
    before = {told["content"] for _, told in calls(first)}
    assert {told["content"] for name, told in calls(first, then) if name == ADD} >= before
    assert not [told for name, told in calls(first, then, memory=next(iter(before), "")) if name == UPDATE]


def test_what_was_said_long_before_is_not_meant():
    said = [DOG[0], "It rains.", "The bus was late.", "Good.", "Actually, he is called Bagel."]
    assert [told["content"] for _, told in calls(*said)] == [DOG[1]]


def test_a_sentence_with_the_old_value_is_no_second_try():
    assert second_try("Actually, he is called Bagel, not Biscuit.") is None


@pytest.mark.parametrize(("subject", "old", "new", "then"), [
    ("Biscuit", DOG[1], "The user's dog is called Bagel.", "Bagel"),
    ("Biscuit", DOG[1], "The user's dog is named Bagel.", "Bagel"),
    ("Rosa Lind", "Rosa Lind lives in Hull.", "Rosa Lund lives in Hull.", "Rosa Lund"),
    ("sister", "The user's sister is a vet.", "The user's brother is a vet.", "brother"),
    ("Biscuit", DOG[1], "The user's dog is called Biscuit and is old.", "Biscuit"),
    ("Biscuit", DOG[1], "The user no longer has a dog.", "Biscuit"),
    ("pets", DOG[1], "The user's dog is called Bagel.", "pets"),
    ("", DOG[1], "The user's dog is called Bagel.", ""),
])  # fmt: skip
def test_the_subject_follows_the_name(subject, old, new, then):
    assert subject_after(subject, old, new) == then
