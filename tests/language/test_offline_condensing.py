"""What the offline rules say in fewer, what they leave alone, and that nothing is lost or made up."""

import re
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from language.base import KnownMemory
from language.offline.model import OfflineModel

FIRST = date(2023, 1, 1)
NEGATIONS = re.compile(r"\b(?:not|never|no|none|nobody|nothing|neither|nor|cannot|without)\b|n't\b")


def memories(*contents, category="preference", subject="Sam", field=""):
    """Memories with ids "0", "1" and so on, each a day younger than the one before."""
    return [
        KnownMemory(str(number), category, subject, content, field, FIRST + timedelta(days=number))
        for number, content in enumerate(contents)
    ]


def condensed(*known):
    return [(one.content, "".join(one.sources)) for one in OfflineModel().condense(known).memories]


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (["Sam adores tea.", "Sam really likes tea."], "Sam really likes tea."),
        (["Sam likes tea.", "Sam enjoys tea."], "Sam enjoys tea."),
        (["Sam likes tea.", "Sam likes tea."], "Sam likes tea."),
        (["Sam was born in 1931.", "Sam was indeed born in 1931."], "Sam was indeed born in 1931."),
    ],
)
def test_what_says_the_same_becomes_the_fullest_and_then_the_newest_wording(contents, expected):
    assert condensed(*memories(*contents)) == [(expected, "01")]


@pytest.mark.parametrize(
    "contents",
    [
        ["Sam likes tea.", "Sam does not like tea."],
        ["Sam likes tea.", "Sam likes tea.", "Sam hates tea."],
        ["Sam was born in 1931.", "Sam was born in 1932."],
        ["Sam has two cats.", "Sam has three cats."],
        ["Sam likes tea.", "Sam hates rain."],
        ["Sam likes tea.", "Tom likes hiking."],
        ["Sam likes tea.", "Sam liked hiking."],
        ["Sam lives in Porto.", "Sam lived in Porto."],
        ["Sam likes tea in the morning.", "Sam likes hiking."],
        ["Sam likes tea.", "Sam likes hiking."],
        ["Sam no longer likes tea.", "Sam likes tea."],
        ["Sam mag Tee.", "Sam mag Kaffee."],
        ["", " "],
        ["Sam likes tea."],
        [],
    ],
)
def test_in_doubt_memories_are_left_alone(contents):
    assert condensed(*memories(*contents)) == []


def test_only_memories_of_one_category_subject_and_field_come_together():
    (one,) = memories("Sam likes tea.")
    others = [("interests", "Sam", ""), ("preference", "Tom", ""), ("preference", "Sam", "tone")]
    for category, subject, field in others:
        other = KnownMemory("9", category, subject, "Sam enjoys tea.", field, FIRST)
        assert condensed(one, other) == []
    assert condensed(one, KnownMemory("9", "preference", "SAM", "Sam enjoys tea.", "", FIRST)) != []


def test_those_with_a_field_come_together_when_they_say_the_same():
    assert condensed(*memories("Sam likes tea.", "Sam enjoys tea.", field="tone")) == [("Sam enjoys tea.", "01")]


def test_a_wording_that_lacks_a_name_or_a_figure_of_another_takes_nobodys_place():
    names = memories("Sam's mother Rosa loves the deep cold sea.", "Sam's mother Rosa really loves the deep cold sea.")
    assert condensed(*names) == [(names[1].content, "01")]
    lost = memories("Sam loves deep cold sea water with Rosa.", "Sam very much loves the deep cold sea water.")
    assert condensed(*lost) == []


def test_the_category_and_subject_stay():
    (one,) = OfflineModel().condense(memories("Sam likes tea.", "Sam enjoys tea.")).memories
    assert (one.category, one.subject, one.importance) == ("preference", "Sam", 2)


def test_too_long_a_wording_stays_apart():
    long = f"Sam likes {'tea ' * 80}."
    assert condensed(*memories(long, long)) == []


# --- Anything at all --------------------------------------------------------------------------------------------

WHO = st.sampled_from(["Sam", "The user", "The user's sister Inês", "Tom", "Nobody", "He"])
VERB = st.sampled_from(
    [
        "likes",
        "enjoys",
        "hates",
        "does not like",
        "never liked",
        "no longer likes",
        "speaks",
        "is allergic to",
        "lives in",
    ]
)
WHAT = st.sampled_from(
    [
        "tea",
        "green tea",
        "hiking",
        "3 cats",
        "two cats",
        "Porto",
        "French",
        "tea and cake",
        "it",
        "the piano",
        "tea in 2019",
    ]
)
SENTENCE = st.builds("{} {} {}.".format, WHO, VERB, WHAT)
KNOWN = st.lists(
    st.tuples(SENTENCE | st.text(max_size=60), st.sampled_from(["", "Sam"]), st.sampled_from(["", "city"])), max_size=9
)


@settings(deadline=None)
@given(KNOWN)
def test_nothing_is_made_up_and_nothing_that_counts_is_lost(told):
    known = {
        str(number): KnownMemory(str(number), "profile", subject, content, field, FIRST)
        for number, (content, subject, field) in enumerate(told)
    }
    answers = OfflineModel().condense(list(known.values())).memories
    assert answers == OfflineModel().condense(list(known.values())).memories
    used = [source for one in answers for source in one.sources]
    assert len(used) == len(set(used))
    for one in answers:
        assert len(one.sources) >= 2
        sources = [known[source] for source in one.sources]
        assert len({(source.subject, source.field) for source in sources}) == 1
        assert len(one.content) <= 280
        said = " ".join(source.content for source in sources)
        assert set(re.findall(r"\d+", one.content)) == set(re.findall(r"\d+", said))
        capitals = set(re.findall(r"\b[^\W\d_a-z]\w*", one.content))
        assert capitals <= set(re.findall(r"\b[^\W\d_a-z]\w*", said))
        assert bool(NEGATIONS.search(one.content)) == bool(NEGATIONS.search(said))
