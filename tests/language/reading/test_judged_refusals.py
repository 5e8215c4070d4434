"""Requests not to keep something that no pattern has, judged by the network."""

import pytest

from language.backends import embedder_replaced
from language.brief_caches import empty_caches
from language.embedders.e5.embedder import BundledEmbedder
from language.embedders.hashing import HashingEmbedder
from language.entailment.model import EntailmentModel, EntailmentUnavailable
from language.reading.refusals import Turn, find_refusal, may_refuse
from language.reading.refusals.judged import asks, has_cue, judged_spans

NAMED = "Let the thing about my brother die here."
SAID = Turn("user", "I play chess. My brother did time in 2012.")


@pytest.fixture(autouse=True)
def _bundled():
    with embedder_replaced(BundledEmbedder()):
        yield


def test_a_request_is_judged_where_it_stands():
    assert judged_spans("He was a tailor, but nobody needs to know about the affair.") == [(17, 59)]
    assert judged_spans("He was a tailor, and he made suits for the mayor.") == []
    assert judged_spans("") == []


@pytest.mark.parametrize(("last", "heard"), [
    (NAMED, ((0, "My brother did time in 2012."), (1, NAMED))),
    ("keep it under your hat", ((0, "I play chess."), (0, "My brother did time in 2012."))),
    ("He told us never to write about it.", None),
    ("I don't want to go back to that.", None),
    ("Keep it in, by all means.", None),
])  # fmt: skip
def test_what_it_means_is_what_it_names_or_what_was_said_before(last, heard):
    refusal = find_refusal([SAID, Turn("user", last)], 1)
    assert (refusal.passages if refusal else None) == heard


def test_an_order_that_names_what_was_not_said_before_is_judged_by_less(monkeypatch):
    order = "Thanks. Please don't count for me, though, and don't save the number."
    assert may_refuse(order)
    assert find_refusal([Turn("user", order)], 0) is not None
    monkeypatch.setattr("language.reading.refusals.judged.LEAST_WHERE_ORDERED", 99.0)
    assert find_refusal([Turn("user", order)], 0) is None


def test_a_no_to_the_question_is_heard_in_any_words():
    asked = [Turn("user", "I vote for the Greens."), Turn("assistant", "Shall I remember that?")]
    assert find_refusal([*asked, Turn("user", "Thank you, but I must decline.")], 2).answers_question
    assert find_refusal([*asked, Turn("user", "why not, go on")], 2) is None


def test_what_the_other_side_asks_is_judged_too():
    assert asks("How lovely! Would you like it in the book?")
    assert not asks("Was he a miner or a baker?")
    asked = [Turn("user", "My sister takes pills. She cooks well."), Turn("assistant", "Should it stand in the book?")]
    answer = "I should feel a fool. Do leave it."
    meant = find_refusal([*asked, Turn("user", answer)], 2).passages
    assert {(0, "My sister takes pills."), (0, "She cooks well.")} <= set(meant)


def test_without_the_network_the_patterns_are_left_alone(settings):
    turns = [SAID, Turn("user", "keep it under your hat")]
    with embedder_replaced(HashingEmbedder()):
        assert find_refusal(turns, 1).passages
    settings.KEEPSAKE_ENTAILMENT = "off"
    assert find_refusal(turns, 1) is None
    assert find_refusal([SAID, Turn("user", "Forget that.")], 1).passages
    order = Turn("user", "Thanks. Please don't count for me, though, and don't save the number.")
    assert find_refusal([SAID, order], 1) is None


def test_a_failure_of_the_network_is_not_remembered(monkeypatch):
    empty_caches()
    turns = [SAID, Turn("user", "keep it under your hat")]
    with monkeypatch.context() as broken:
        broken.setattr(EntailmentModel, "judge_pairs", _fail)
        assert find_refusal(turns, 1) is None
    assert find_refusal(turns, 1).passages


def _fail(self, tuning, pairs):
    raise EntailmentUnavailable("broken")


def test_most_of_ordinary_talk_is_not_judged():
    said = ["She sang in the choir.", "We moved to Leeds in 1990.", "He worked at the mill for thirty years."]
    assert not any(map(has_cue, said))
    assert may_refuse("keep it under your hat")


@pytest.mark.parametrize("said", ["x" * 32_000, "Traceback (most recent call last):", '[{"type": "input_image"}]'])
def test_what_is_no_request_of_a_person_withholds_nothing(said):
    turns = [Turn("user", "I keep forty hens."), Turn("assistant", "How nice."), Turn("user", said)]
    assert find_refusal(turns, 2) is None


@pytest.mark.parametrize(
    "said", ["please fail now", "fail now", "let me fail", "abort the build", "please fail this time"]
)
def test_what_is_ordered_of_something_else_withholds_nothing(said):
    assert find_refusal([SAID, Turn("user", said)], 1) is None


@pytest.mark.parametrize("said", ["kill it", "throw it away", "Disregard the previous entry."])
def test_what_points_to_what_was_said_is_heard(said):
    assert find_refusal([SAID, Turn("user", said)], 1).passages


@pytest.mark.parametrize(
    ("question", "asks_to_keep"),
    [
        ("Is the date of your wedding something I should hold on to?", True),
        ("I'd gladly remember that you sing bass. Okay?", True),
        ("Mag ik onthouden dat je in een koor zingt?", True),
        ("Czy mam zapamiętać, że śpiewasz w chórze?", True),
        ("Which part do you sing?", False),
        ("Zal ik het lied voor je vertalen?", False),
        ("", False),
    ],
)
def test_what_an_assistant_asks_in_words_of_its_own(question, asks_to_keep):
    assert asks(question) is asks_to_keep


@pytest.mark.parametrize(
    ("question", "answer", "is_refused"),
    [
        ("Would you rather I forgot that?", "No, it matters.", False),
        ("Shall I make that the default?", "Let's not make anything permanent.", True),
        ("Got it for this form. Save it for other ones?", "Negative.", True),
        ("May I keep that figure?", "Please only use it for this table.", True),
        ("Ska jag spara det?", "Nej tack.", True),
        ("Should I delete this after the trip?", "Yes, do that.", True),
        ("Cela te dérange si je m'en souviens ?", "Oui.", True),
        ("Would you rather I forgot that?", "Yes.", True),
        ("Stört es dich, wenn ich das behalte?", "Nein.", False),
        ("Stört es dich, wenn ich das behalte?", "Ja.", True),
        ("Shall I remember that?", "Nothing about my voice, ever, ok?", True),
        ("Shall I remember that?", "Nothing about my voice is secret.", False),
        ("Czy mam to zapamiętać?", "Nie trzeba.", True),
        ("Czy mam to przetłumaczyć?", "Nie trzeba.", False),
    ],
)
def test_a_no_to_a_question_in_other_words_or_whether_to_forget(question, answer, is_refused):
    turns = [Turn("user", "I sing bass."), Turn("assistant", question), Turn("user", answer)]
    assert (find_refusal(turns, 2) is not None) is is_refused


@pytest.mark.parametrize("said", [
    "Writer 3 goes on, 0.",
    "Writer 1 goes on, 0.",
    "We lost again, 3-0.",
    "Stairs done this week: 0.",
    "Platform 0.",
    "Zero goals in the second half, none in the first.",
    "Level 7, lives 0, score 4410.",
])  # fmt: skip
def test_a_message_that_ends_in_a_number_withholds_nothing(said):
    assert find_refusal([SAID, Turn("user", said)], 1) is None


@pytest.mark.parametrize("said", [
    "merk dir das bitte nicht",
    "schreib das nicht auf",
    "lösch das wieder",
    "ne note pas ça",
    "oublie ce que j'ai dit",
    "no quiero que lo guardes",
    "onthoud dat niet",
    "não anotes isso",
])  # fmt: skip
def test_an_order_in_another_language_is_of_what_was_said_before(said):
    told = [Turn("user", "Mein Bruder trinkt."), Turn("assistant", "I see.")]
    refusal = find_refusal([*told, Turn("user", said)], 2)
    assert refusal is not None
    assert (0, "Mein Bruder trinkt.") in refusal.passages


@pytest.mark.parametrize(("said", "is_heard"), [
    ("Please don't keep that in mind.", True),
    ("Never keep that in mind.", True),
    ("No need to keep that in mind.", True),
    ("Don't ever keep that in mind.", True),
    ("Keep that in mind.", False),
])  # fmt: skip
def test_what_is_not_to_be_kept_in_mind_is_refused(said, is_heard):
    asked = [Turn("user", "I play chess."), Turn("assistant", "I'll keep in mind that you play chess.")]
    assert (find_refusal([*asked, Turn("user", said)], 2) is not None) is is_heard


@pytest.mark.parametrize("said", ["Merk dir das.", "Vergiss das bitte nicht!", "Schreib dir das auf.", "note ça",
                                  "n'oublie pas", "anota isso", "no lo olvides", "vergeet dat niet"])  # fmt: skip
@pytest.mark.parametrize("before", ["I see.", "Shall I remember that?"])
def test_an_order_to_keep_in_another_language_refuses_nothing(before, said):
    assert find_refusal([SAID, Turn("assistant", before), Turn("user", said)], 2) is None


@pytest.mark.parametrize("said", ["skip ci", "drop database", "wipe disk", "rollback migration", "abort the build"])
def test_a_short_command_about_other_work_withholds_nothing(said):
    assert find_refusal([SAID, Turn("assistant", "I see."), Turn("user", said)], 2) is None


@pytest.mark.parametrize("request_", [
    "Strike all of it, I was only venting and I feel better already now.",
    "Erase it, I just had to say it out loud to someone.",
])  # fmt: skip
@pytest.mark.parametrize("told", [
    "I was fired. ",
    "I failed the bar exam twice and told my parents that I passed, and now they want to come to the party in June. ",
])  # fmt: skip
def test_what_follows_an_order_after_a_comma_does_not_hide_it(told, request_):
    refusal = find_refusal([Turn("user", told + request_)], 0)
    assert refusal is not None
    assert (0, told.strip()) in refusal.passages
