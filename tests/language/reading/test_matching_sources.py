"""Which statements answer a question of the offline assistant, and whether they answer it."""

import pytest

from language.base import Source
from language.reading.answering import matching_sources, with_name

LENA = "Your daughter Lena lives in Hamburg and works as an architect."
LISBON = "You are planning a trip to Lisbon in May."
JOB = "You work as a pharmacist."


def matching(question, *texts, **how):
    sources, fit = matching_sources(question, [Source(text, "told", **how) for text in texts])
    return [source.text for source in sources], fit


@pytest.mark.parametrize("question", ["how old am I?", "How old am I now?", "what is my age?", "What's my age?"])
@pytest.mark.parametrize(
    "text",
    ["You are 58.", "You are 58 years old.", "You turned fifty-eight in March.", "You were born in 1968.", "“I'm 58.”"],
)
def test_how_old_they_are_is_answered_by_their_age_and_when_they_were_born(question, text):
    others = "Your son is 30.", "You are 170 cm tall.", "You have lived in Kiel for 12 years."
    assert matching(question, *others, text) == ([text], "answers")


def test_what_tells_no_age_does_not_answer_how_old_somebody_is():
    texts = "You are 170 cm tall.", "You are 2.5 km from work.", "You are one of three."
    assert matching("how old am I?", *texts) == ([], "nearest")
    assert matching("What is Mia's age?", "Mia likes tea.", "Mia is 7.")[0][0] == "Mia is 7."


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("where does Lena live?", LENA),
        ("what does Lena do for a living?", LENA),
        ("Where did Lena go last year?", "Lena made a trip to Norway last year."),
        ("where am I going in May?", LISBON),
        ("when am I going to Lisbon?", LISBON),
        ("Where do I travel in May?", LISBON),
        ("When am I flying to Rome?", "You fly to Rome on Friday."),
        ("What's my husband's name?", "Your husband is called Georg."),
    ],
)
def test_another_form_of_what_is_asked_answers(question, text):
    assert matching(question, JOB, text) == ([text], "answers")


@pytest.mark.parametrize(
    ("question", "own", "others"),
    [
        ("what's my name?", "Your name is Marta.", "Your husband's name is Georg."),
        ("What am I called?", "Your name is Marta.", "You have a dog called Bruno."),
        ("what do I do for work?", JOB, LENA),
        ("What do I do for a living?", JOB, LENA),
        ("Where do I live?", "You live in Kiel.", LENA),
        ("Which languages can I speak?", "You speak Danish.", "Your daughter Lena speaks Danish."),
    ],
)
def test_what_is_asked_of_oneself_is_not_answered_by_what_is_so_of_others(question, own, others):
    assert matching(question, others, own) == ([own], "answers")


@pytest.mark.parametrize(
    ("question", "others"), [("what's my name?", "Your husband's name is Georg."), ("what do I do for work?", LENA)]
)
def test_what_is_known_of_others_only_is_told_as_theirs(question, others):
    assert matching(question, others) == ([others], "others")


def test_what_shares_only_the_word_name_is_no_name_of_theirs():
    assert matching("what's my name?", "You have a cat named Biscuit.") == (
        ["You have a cat named Biscuit."],
        "nearest",
    )


def test_when_they_work_is_not_hidden_by_what_they_work_as():
    assert "You work days, from 7." in matching("When do I work?", JOB, "You work days, from 7.")[0]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Where does my daughter live?", LENA),
        ("Who is my boss?", "Alec is your boss."),
        ("Where is my umbrella?", "Lena has the umbrella."),
        ("What do you know about my family?", LENA),
    ],
)
def test_what_is_asked_of_somebody_else_is_answered_by_what_is_told_of_them(question, text):
    assert matching(question, text) == ([text], "answers")


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("Rosa Almeida", "When was Rosa born?"),
        ("Grandma Rosa", "When was Rosa born?"),
        ("Dr. Rosa Almeida", "When was Rosa born?"),
        ("", "When was she born?"),
    ],
)
def test_a_pronoun_stands_for_the_name_that_statements_have(name, asked):
    assert with_name("When was she born?", name) == asked


def test_so_does_what_precedes_the_name():
    assert with_name("When was Grandma born?", "Grandma Rosa") == "When was Rosa born?"
    assert with_name("When was Grandma Rosa born?", "Grandma Rosa") == "When was Grandma Rosa born?"


@pytest.mark.parametrize("question", ["am I married?", "who am I married to?", "Am I still single?"])
@pytest.mark.parametrize(
    "text",
    ["Your wife is called Petra.", "You got divorced in October.", "You are single.", "You married Lou in 1999."],
)
def test_whether_they_are_married_is_answered_by_whatever_tells_of_it(question, text):
    others = "Your brother got married in May.", "Your sister's husband is a baker.", "You like plums."
    assert matching(question, *others, text) == ([text], "answers")


def test_where_somebody_lives_is_answered_by_where_they_moved():
    assert matching("where does Karl live?", "Your brother Karl moved to Bremen.") == (
        ["Your brother Karl moved to Bremen."],
        "answers",
    )


@pytest.mark.parametrize("question", ["what do I not like?", "What don't I like?", "what do I dislike?"])
def test_what_they_do_not_like_is_answered_by_what_they_hate(question):
    told = "You like plums.", "You hate coriander."
    assert matching(question, *told) == (["You hate coriander."], "answers")


_OF_ROSA = ["Rosa was born in Trieste.", "Rosa was the aunt of Gianna.", "Rosa baked pies.", "Rosa loved cats."]


def test_a_title_before_a_name_is_none_of_what_is_asked_for():
    """Reproduction: of a legacy whose facts say "Rosa" only the one with "aunt" was told."""
    for asked in ("What do you know about Aunt Rosa?", "What do you know about Rosa?"):
        assert matching(asked, *_OF_ROSA, of_legacy=True) == (_OF_ROSA, "answers")
    yours = ["Your aunt Rosa lives in York.", "Your sister Rosa lives in Bonn."]
    assert matching("Where does Aunt Rosa live?", *yours) == (yours[:1], "answers")


def test_where_somebody_died_is_not_answered_by_all_that_is_known_of_them():
    """Reproduction: "die" was taken for the German article."""
    assert matching("Where did Rosa die?", *_OF_ROSA, of_legacy=True) == ([], "nearest")
    died = "Rosa died in Graz."
    assert matching("Where did Rosa die?", died, *_OF_ROSA, of_legacy=True) == ([died], "answers")
