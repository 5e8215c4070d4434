import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from language.base import LanguageModel
from language.gates import mask_sensitive
from language.offline.model import OfflineModel
from tests.language.offline_talk import conversation

FIRST_OR_SECOND_PERSON = re.compile(r"\b(?:I|me|my|mine|we|us|our|you|your)\b", re.IGNORECASE)


def extract(*said, **options):
    return OfflineModel().extract(conversation(*said, **options))


def test_the_model_says_that_it_is_rules():
    model = OfflineModel()
    assert isinstance(model, LanguageModel)
    assert model.offline
    assert extract("Hello.").model == "offline rules 1"


def test_facts_carry_the_messages_that_say_them_and_their_words():
    said = [
        "Grandma Rosa sewed dresses.",
        "guide> How lovely.",
        "She loved the sea. Rosa was born in 1931, I know that.",
    ]
    extraction = extract(*said, legacy="Rosa", first_index=40)
    assert [(fact.content, fact.indices) for fact in extraction.facts] == [
        ("Rosa sewed dresses.", (40,)),
        ("Rosa loved the sea.", (42,)),
        ("Rosa was born in 1931.", (42,)),
    ]
    for fact in extraction.facts:
        assert fact.quote
        assert fact.quote in said[fact.indices[0] - 40]
    assert extraction.facts[0].quote == "Grandma Rosa sewed dresses."


def test_what_is_said_twice_is_one_fact_with_both_messages():
    extraction = extract("Rosa adored the sea.", "guide> Oh?", "She really adored the sea!", legacy="Rosa")
    assert [(fact.content, fact.indices) for fact in extraction.facts] == [("Rosa adored the sea.", (0, 2))]


def test_what_contradicts_itself_is_kept_as_both():
    extraction = extract("Rosa was born in 1931.", "No, Rosa was born in 1933.", legacy="Rosa")
    assert [fact.content for fact in extraction.facts] == ["Rosa was born in 1931.", "Rosa was born in 1933."]


def test_no_message_gives_nothing():
    extraction = extract(legacy="Rosa")
    assert extraction.facts == extraction.memories == extraction.episodes == ()


def test_only_the_users_messages_count():
    extraction = extract("guide> Rosa was a nurse. I live in Lisbon. Remember that I like tea.", "Ok.", legacy="Rosa")
    assert extraction.facts == extraction.memories == ()


def test_a_quote_is_verbatim_even_where_the_writing_is_odd():
    said = "Well…  I’m   allergic to peanuts — badly.\r\n\r\nAnd I don’t eat pork!"
    extraction = extract(said)
    assert [memory.content for memory in extraction.memories] == [
        "The user is allergic to peanuts - badly.",
        "The user does not eat pork.",
    ]
    for memory in extraction.memories:
        assert memory.quote in said


def test_memories_name_whom_they_are_about():
    extraction = extract(
        "Alec is my boss. My sister Inês lives in London. My dentist is Teresa. I live in Faro. My dog is called Rex."
    )
    assert [memory.subject for memory in extraction.memories] == ["Alec", "Inês", "Teresa", "", "Rex"]


def test_what_was_asked_for_weighs_more():
    asked, told = (extract(said).memories[0] for said in ("Remember that I like tea.", "I like tea."))
    assert asked.explicit
    assert not told.explicit
    assert asked.importance > told.importance


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (("preference", "interests"), "interests"),
        (("preferences",), "preferences"),
        (("profile",), "profile"),
        (("project",), None),
    ],
)
def test_a_memory_takes_a_category_that_the_deployment_knows(known, expected):
    memories = extract("I love hiking.", categories=known).memories
    assert [memory.category for memory in memories] == ([expected] if expected else [])


def test_a_fact_without_its_category_is_other_or_nothing():
    said = "Rosa was a seamstress."
    assert extract(said, legacy="Rosa", facts=("hobby", "other")).facts[0].category == "other"
    assert extract(said, legacy="Rosa", facts=("hobby",)).facts == ()


def test_a_list_of_many_lines_gives_nothing():
    todo = "\n".join(f"- I live in town number {number}" for number in range(200))
    poem = "\n".join(f"I love town number {number}" for number in range(200))
    assert extract(todo).memories == extract(poem).memories == ()
    assert extract("I live in Faro.\n" + todo + "\nI live in Faro.").memories[0].content == "The user lives in Faro."


def test_pasted_code_and_logs_give_nothing():
    pasted = (
        'def f(x): return {"I live in Faro": x}\nfoo(); bar = [1, 2];\nI am a nurse = {};\n~~~\nI live in Faro.\n~~~'
    )
    assert extract(pasted).memories == ()


def test_days_are_dated_by_the_message():
    said = "I moved to Braga {}."
    for when, dated in {
        "yesterday": "on 7 May 2023",
        "last week": "in the week before 8 May 2023",
        "last month": "in April 2023",
        "last year": "in 2022",
        "last Saturday": "on the Saturday before 8 May 2023",
        "on Friday": "on the Friday before 8 May 2023",
        "last summer": "in the summer before 8 May 2023",
        "three weeks ago": "three weeks before 8 May 2023",
        "the day before yesterday": "on 6 May 2023",
        "this year": "in 2023",
        "in March": "in March",
    }.items():
        assert [memory.content for memory in extract(said.format(when)).memories] == [
            f"The user moved to Braga {dated}."
        ]


@pytest.mark.parametrize("when", ["tonight", "last night", "the other day", "this summer", "soon", "this Friday"])
def test_what_happens_on_a_day_that_can_not_be_told_is_left_out(when):
    assert extract(f"I moved to Braga {when}.").memories == ()


def test_every_legacy_name_is_usable():
    for name in (
        "Grandma",
        "Dr. Samuel Okafor",
        "Mr. Rogers",
        "María de la Cruz",
        "Łukasz",
        "田中",
        " ",
        "!?",
        "O'Neil",
        "Rosa " * 60,
    ):
        extraction = extract("She was a nurse.", "My grandmother died in 2010.", legacy=name)
        assert all(fact.content.endswith(".") for fact in extraction.facts)


def test_a_title_that_is_all_of_the_name_is_kept():
    facts = extract("Mr. Rogers was a teacher.", legacy="Mr. Rogers").facts
    assert [fact.content for fact in facts] == ["Mr. Rogers was a teacher."]


def test_a_user_without_a_name_is_the_user():
    facts = extract("She taught me chess. My mother was her daughter.", legacy="Rosa", user=" ").facts
    assert [fact.content for fact in facts] == ["Rosa taught the user chess.", "The user's mother was Rosa's daughter."]


PIECES = """
I you she he Rosa my mother Dad Tom was is were loved hates never always not don't a the in Porto 1931 on Sundays and
but because when if nurse teacher tea . , ? ! ; ( ) ' " remember that we us it they Grandma's 's yesterday last year
born worked lives as likes had have been every morning favourite colour name - > ``` 漢字 été
"""
WORDS = st.sampled_from([*PIECES.split(), "\n"])


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(WORDS, max_size=40).map(" ".join), max_size=4),
    st.sampled_from([None, "Rosa", "Dad", "Joseph Miller"]),
)
def test_whatever_is_said_the_output_keeps_its_form(said, legacy):
    extraction = extract(*said, legacy=legacy)
    for found in (*extraction.facts, *extraction.memories):
        assert 5 <= len(found.content) <= 280
        assert not FIRST_OR_SECOND_PERSON.search(found.content)
        assert found.indices == tuple(sorted(set(found.indices)))
        assert found.quote in said[found.indices[0]]
        assert found.quote
    assert extraction == extract(*said, legacy=legacy)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=200), max_size=4))
def test_any_text_is_taken(said):
    assert extract(*said, legacy="Rosa").summary


def test_nothing_is_left_of_a_masked_secret():
    masked = mask_sensitive("Remember: the wifi password is hunter22")
    assert "removed]" in masked
    extraction = extract(masked, "I have a canary.")
    assert [memory.content for memory in extraction.memories] == ["The user has a canary."]
