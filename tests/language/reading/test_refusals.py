"""What a person's no in talk means, over dialogues a third of which only seem to have one."""

import re
from pathlib import Path

import pytest
import yaml

from language.backends import embedder_replaced
from language.embedders.e5.embedder import BundledEmbedder
from language.embedders.hashing import HashingEmbedder
from language.reading.refusals import (
    Turn,
    beginnings_of,
    count_extra_words,
    find_refusal,
    lemmas,
    may_refuse,
    named_things,
    restates,
    says_yes,
)
from tests.timing import allowed, processor_seconds

GROUPS = yaml.load((Path(__file__).parent.parent / "refusals.yaml").read_text(), yaml.CSafeLoader)
LEAST_HEARD, MOST_WRONGLY = 0.9, 0.03


@pytest.fixture(autouse=True)
def _bundled():
    with embedder_replaced(BundledEmbedder()):
        yield


def judge(case):
    """Whether what is in braces was heard, and what else was."""
    turns, wanted = [], []
    for number, say in enumerate(case):
        who, _, rest = say.partition("> ")
        role, text = ("assistant", rest) if who == "guide" else ("user", rest if who == "held" else say)
        wanted += [(number, part.strip()) for part in re.findall(r"{(.+?)}", text)]
        turns.append(Turn(role, re.sub("[{}]", "", text), is_held=who == "held"))
    refusal = find_refusal(turns, len(turns) - 1)
    passages = refusal.passages if refusal else ()
    hits = {
        (place, part): [p for at, p in passages if at == place and (part in p or p in part)] for place, part in wanted
    }
    meant = {(place, passage) for (place, _), found in hits.items() for passage in found}
    # The sentence that asks goes along where it says what is meant, and the assistant's that asked about it.
    theirs = [each for each in passages if turns[each[0]].role == "user"]
    more = [each for each in theirs if each not in meant and (each[0] < len(turns) - 1 or not wanted)]
    return all(hits.values()), more


@pytest.mark.corpus
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group["group"])
def test_nine_of_ten_are_heard_and_next_to_nothing_wrongly(group):
    judged = {str(case): judge(case) for case in group["cases"]}
    traps = {name for name in judged if "{" not in name}
    missed = [name for name, (heard, _) in judged.items() if name not in traps and not heard]
    wrongly = [name for name, (_, more) in judged.items() if more]
    assert len(traps) >= len(judged) / 3
    assert len(missed) <= (1 - LEAST_HEARD) * (len(judged) - len(traps)), missed
    assert len(wrongly) <= MOST_WRONGLY * len(judged), wrongly


@pytest.mark.parametrize(
    "last",
    [
        "scrap that last one about coriander",
        "Can you scrap what I said about coriander?",
        "Scratch the last thing about coriander.",
        "scratch that last one, about coriander",
    ],
)
def test_the_last_one_about_something_is_that_one_even_if_another_came_since(last):
    heard, more = judge(["I hate {coriander}.", "guide> I see.", "I grow tomatoes.", "guide> Nice.", last])
    assert heard
    assert not [passage for place, passage in more if place < 4]


@pytest.mark.parametrize("last", ["scrap that plan, we'll go to Rome", "They scrap old ships there."])
def test_what_is_scrapped_elsewhere_is_no_request(last):
    assert judge(["I hate coriander.", "guide> I see.", last]) == (True, [])


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ("My gran doesn't know about the loan. Keep no trace of that, please.", 1),
        ("I told the school that we are ill. Please let that slip your mind.", 1),
        ("Got a piercing in Leeds, strike that from the record, please.", 1),
        ("I think I'm pregnant, don't write that down.", 1),
        ("I have HIV. I take Biktarvy daily. Don't save any of that, please.", 2),
        ("I live in Bonn. I have HIV. Please don't save that.", slice(1, 2)),
    ],
)
def test_a_refusal_in_the_first_message_is_of_what_that_says(said, refused):
    told = said.split(". ")[:-1] if ". " in said else [said]
    wanted = told[refused] if isinstance(refused, slice) else told[:refused]
    refusal = find_refusal([Turn("user", said)], 0)
    assert refusal is not None
    found = [passage.rstrip(".") for _, passage in refusal.passages]
    assert [each for each in found if each in {one.rstrip(".") for one in told}] == [
        each.rstrip(".") for each in wanted
    ]


@pytest.mark.parametrize(
    "said",
    [
        "Got a piercing in Leeds, strike that from the record, please.",
        "Lost my job in May, let that slip your mind.",
        "I think I'm pregnant, don't write that down.",
        "My mum will have surgery on Friday. Please don't note that.",
        "I think my son is gay. Don't save that.",
    ],
)
def test_what_a_later_message_tells_itself_is_what_it_refuses(said):
    turns = [Turn("user", "I live in Porto."), Turn("assistant", "Nice."), Turn("user", said)]
    refusal = find_refusal(turns, 2)
    assert refusal is not None
    assert [place for place, _ in refusal.passages] == [2]


def test_what_seems_a_comment_goes_even_if_something_was_just_announced():
    turns = [
        Turn("user", "I take pottery classes."),
        Turn("assistant", "I will remember that you take pottery classes."),
        Turn("user", "My landlord doesn't know about the cat. Keep no trace of that, please."),
    ]
    refusal = find_refusal(turns, 2)
    assert refusal is not None
    assert (2, "My landlord doesn't know about the cat.") in refusal.passages


def _after_a_yes(said):
    turns = [
        Turn("user", "I take pottery classes."),
        Turn("assistant", "Shall I remember that you take pottery classes?"),
        Turn("user", "Yes, please."),
        Turn("assistant", "I will remember that you take pottery classes."),
        Turn("user", said),
    ]
    refusal = find_refusal(turns, 4)
    assert refusal is not None
    return refusal.passages


def test_a_request_about_something_new_leaves_what_was_just_agreed():
    said = "My landlord doesn't know about the cat. Keep no trace of that, please."
    assert {place for place, _ in _after_a_yes(said)} == {4}


@pytest.mark.parametrize(
    "said",
    [
        "I changed my mind. Don't keep that.",
        "My wife reads this. Don't keep that.",
        "On second thoughts. Don't keep that.",
        "Oh wait, I changed my mind. Don't keep that.",
        "I've changed my mind about that. Don't keep it.",
        "I had second thoughts. Don't keep that.",
    ],
)
def test_a_request_that_only_gives_its_reason_refuses_what_was_just_agreed(said):
    assert 0 in {place for place, _ in _after_a_yes(said)}


@pytest.mark.parametrize("said", ["Forget the pottery.", "Please forget the pottery.", "forget the pottery thanks"])
def test_an_order_to_forget_a_thing_names_what_is_remembered_of_it(said):
    refusal = find_refusal([Turn("user", said)], 0)
    assert refusal is not None
    assert refusal.named_lemmas == {"pottery"}


def test_what_the_refused_sentence_leans_on_goes_along():
    refusal = find_refusal([Turn("user", "We live in Porto. I told my wife I'm gay. She cried. Don't save that.")], 0)
    assert refusal is not None
    told = [text for _, text in refusal.passages]
    assert told[:2] == ["I told my wife I'm gay.", "She cried."]
    assert "We live in Porto." not in told


def test_a_request_after_many_sentences_is_judged():
    told = "We had a long day. The bus was late. It rained. We ate soup. I slept badly. The baby cried. My aunt came. "
    told += "She brought bread. We talked. It was fun. The neighbours sang. We danced. My uncle drinks. "
    refusal = find_refusal([Turn("user", told + "keep it under your hat")], 0)
    assert refusal is not None
    assert (0, "My uncle drinks.") in refusal.passages


def test_a_no_to_another_question_of_the_message_refuses_nothing():
    turns = [
        Turn("user", "I row on Sundays."),
        Turn("assistant", "Shall I remember that you row on Sundays? And would you like a training plan?"),
    ]
    assert find_refusal([*turns, Turn("user", "Yes, but no plan please.")], 2) is None
    assert find_refusal([*turns, Turn("user", "No plan, thanks.")], 2) is None


def test_what_stands_just_before_a_request_goes_though_it_seems_a_comment():
    said = "We have a cat, Minka. It turns out my boss is a crook. Don't save that."
    refusal = find_refusal([Turn("user", said)], 0)
    assert refusal is not None
    assert (0, "It turns out my boss is a crook.") in refusal.passages


def test_what_an_announcement_tells_itself_goes_along():
    said = "What I'm about to say must not be stored: I have piles. Also, I have a cat."
    refusal = find_refusal([Turn("user", "I live in Porto."), Turn("user", said)], 1)
    assert refusal is not None
    assert next(text for place, text in refusal.passages if place == 1).endswith("I have piles.")


def test_what_stands_beside_a_request_about_the_last_message_stays():
    turns = [Turn("user", "I have a dog, Rex."), Turn("assistant", "How old?")]
    refusal = find_refusal([*turns, Turn("user", "He'd be nine in June. Ignore my last message, wrong chat.")], 2)
    assert refusal is not None
    assert refusal.passages == ((0, "I have a dog, Rex."),)


def test_a_request_that_says_nothing_in_the_first_message_refuses_nothing():
    refusal = find_refusal([Turn("user", "It wasn't written anywhere, you just knew.")], 0)
    assert refusal is not None
    assert (refusal.passages, refusal.named_lemmas) == ((), frozenset())


def test_a_choice_is_no_wish_to_forget_everything_of_it():
    assert not any(thing.all_of_it for thing in named_things("Forget Paris, then."))
    assert any(thing.all_of_it for thing in named_things("Please forget Bello, thanks."))


def test_there_are_eighty_dialogues():
    assert sum(len(group["cases"]) for group in GROUPS) >= 80


def test_most_messages_are_not_parsed(monkeypatch):
    monkeypatch.setattr("language.reading.refusals.meaning.parse", None)
    assert (
        find_refusal(
            [Turn("user", "Nothing of that was so. No, he was a baker, not a miner, and he never forgot it.")], 0
        )
        is None
    )
    assert not may_refuse("She worked at the mill until we moved to Leeds.")


def test_a_statement_is_named_by_all_the_words_and_told_by_most():
    assert count_extra_words("The user is allergic to nuts.", frozenset({"allergy", "nut"})) == 0
    assert count_extra_words("The user likes tea and coffee.", frozenset({"tea"})) == 1
    assert count_extra_words("The user likes tea.", frozenset({"coffee"})) is None
    assert count_extra_words("The user likes tea.", frozenset()) is None
    said = ["My dad had debts with half the village."]
    assert restates("The user's father had debts.", said)
    assert not restates("The user's father was a miner.", said)
    assert not restates("The user lives in Lisbon.", ["My sister lives in Lisbon too."])
    assert restates("The user's sister lives in Lisbon.", ["My sister lives in Lisbon too."])


@pytest.mark.parametrize(
    "part", ["no ", "please ", "please don't ", "that is not to be ", "keep my a b ", ", and but so "]
)
def test_a_long_text_of_such_words_takes_no_long_time(part):
    assert processor_seconds(lambda: may_refuse(part * (32_000 // len(part)))) < allowed(5)


@pytest.mark.parametrize(
    ("answer", "agrees"),
    [
        ("If you wouldn’t mind. She forgets everything.", True),
        ("Nothing would please her more!", True),
        ("Why not?", True),
        ("I don't mind.", True),
        ("I don't mind her, but don't note it.", False),
        ("If you don't mind, leave it out.", False),
    ],
)
def test_a_yes_in_the_words_of_a_no(answer, agrees):
    turns = [Turn("user", "My aunt sold her boat."), Turn("assistant", "Shall I remember that?"), Turn("user", answer)]
    assert says_yes(answer) == agrees
    assert (find_refusal(turns, 2) is None) == agrees


@pytest.mark.parametrize(
    ("answer", "agrees"),
    [
        ("Please remember that my aunt Berta likes tulips.", False),
        ("Yes please, remember that I like coffee.", False),
        ("Okay, note that the office moved.", False),
        ("Please call me Sam.", False),
        ("Yes, please remember that.", True),
        ("Please remember it.", True),
        ("Sure, keep it in mind.", True),
    ],
)
def test_an_order_to_keep_something_else_is_no_plain_yes(answer, agrees):
    assert says_yes(answer) == agrees


SWAN = "I shot a swan once."


@pytest.mark.parametrize("embedder", [BundledEmbedder, HashingEmbedder])
@pytest.mark.parametrize("asked", ["That must have been hard.", "Shall I remember that?"])
@pytest.mark.parametrize(
    "no",
    [
        "Strike it from the record.",
        "Strike that from the record, please.",
        "strike that",
        "Wipe that.",
        "wipe that from your memory",
        "Scrub that.",
        "Could you scrub that from your notes?",
        "scrub what I said about the swan",
        "off the record please",
        "That's off the record.",
    ],
)
def test_orders_to_strike_wipe_or_scrub_are_a_no(embedder, asked, no):
    with embedder_replaced(embedder()):
        refusal = find_refusal([Turn("user", SWAN), Turn("assistant", asked), Turn("user", no)], 2)
    assert refusal is not None
    assert (0, SWAN) in refusal.passages


@pytest.mark.parametrize(
    "said", ["I need to scrub the floor.", "Wipe it with a cloth.", "Strike that, it was Tuesday."]
)
def test_other_strikes_wipes_and_scrubs_are_none(said):
    assert find_refusal([Turn("user", SWAN), Turn("assistant", "I see."), Turn("user", said)], 2) is None


@pytest.mark.parametrize("said", ["Forget what I said about Leeds.", "forget what i said about leeds"])
def test_a_name_that_ends_like_a_plural_is_found(said):
    """Reproduction: alone it was read as several "leed", in a sentence as a name."""
    refusal = find_refusal(
        [Turn("user", "I moved to Leeds in May."), Turn("assistant", "I see."), Turn("user", said)], 2
    )
    assert refusal is not None
    assert (0, "I moved to Leeds in May.") in refusal.passages
    assert refusal.named_lemmas <= lemmas("The user lives in Leeds.")


@pytest.mark.parametrize(
    ("word", "beginnings"),
    [("shoot", ["shoo", "shot"]), ("swan", ["swan"]), ("try", ["tr", "trie"]), ("unforgettable", ["unfo"])],
)
def test_beginnings_find_the_forms_that_endings_do_not_give(word, beginnings):
    assert beginnings_of(word) == beginnings


def test_beginnings_find_what_a_relative_is_called_by():
    assert {"dad", "fath"} <= set(beginnings_of("father"))


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Should I note it, or is it a passing fancy?", "It's no passing fancy."),
        ("Surely I needn't remember that?", "Quite the opposite."),
        ("I hope you don't mind that I remember it.", "I'd mind if you forgot."),
        ("Should I leave it out of the menu?", "No, only out of the soup. But yes, do remember it."),
        ("Shall I write to the vet about it?", "Leave that, she has heard."),
        ("Should I mention ducks too?", "Forget ducks."),
        ("You need flour, butter and thyme.", "Forget the thyme!"),
    ],
)
def test_what_answers_another_question_or_contradicts_a_doubt_is_no_refusal(asked, answer):
    assert find_refusal([Turn("user", SWAN), Turn("assistant", asked), Turn("user", answer)], 2) is None


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Shall I remember it?", "Thanks for asking, but I'm fine."),
        ("Shall I remember it?", "Only if you like being wrong, so better don't."),
        ("Je le note ?", "Surtout pas."),
        ("How lovely.", "We never had this talk, okay?"),
        ("How lovely.", "Please act as if I had never said that."),
        ("How lovely.", "That's between you, me and the lamppost."),
        ("Shall I write to the vet?", "No. And don't keep it anywhere."),
    ],
)
def test_a_no_in_other_words_is_heard(asked, answer):
    refusal = find_refusal([Turn("user", SWAN), Turn("assistant", asked), Turn("user", answer)], 2)
    assert refusal is not None
    assert (0, SWAN) in refusal.passages


ASKED = "What's the name of my mum?"


def passages_and_names(*turns):
    said = [Turn("assistant" if place % 2 else "user", text) for place, text in enumerate(turns)]
    refusal = find_refusal(said, len(said) - 1)
    return refusal and (refusal.passages, refusal.named_lemmas)


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("Forget Bello.", {"bello"}),
        ("forget Aunt Agatha", {"aunt", "agatha"}),
        ("Please forget Bello, thanks.", {"bello"}),
        ("Forget that.", set()),
        ("Don't keep that.", set()),
        ("I don't want you to know that I drink cider.", {"drink", "cider"}),
        ("Please don't ever mention my sister Karin again.", {"sister", "karin"}),
    ],
)
def test_a_question_before_is_never_what_is_meant(said, named):
    assert passages_and_names(ASKED, "Helga.", said) == (((2, said),), frozenset(named))


def test_what_a_refusal_tells_itself_declines_no_offer_before_it():
    said = "I don't want you to know that I drink cider."
    turns = [
        Turn("user", "Peter lives in Graz.", is_held=True),
        Turn("assistant", "Shall I remember that?"),
        Turn("user", said),
    ]
    assert find_refusal(turns, 2).passages == ((2, said),)


@pytest.mark.parametrize("said", ["Everything you know about my address is wrong.", "I don't know that he drinks."])
def test_what_is_wrong_or_unknown_is_not_refused(said):
    assert passages_and_names("I live in Graz.", "I see.", said) is None


@pytest.mark.parametrize(
    ("said", "is_no"),
    [
        ("What is my job now?", False),
        ("What's my job?", False),
        ("Why would you?", True),
        ("Who asked you?", True),
        ("Do you have to?", True),
        ("Can't you just forget it?", True),
        ("When did I say you could?", True),
        ("What is my job to you?", True),
    ],
)
def test_what_the_person_asks_about_themselves_is_no_answer(said, is_no):
    asked = "This waits for your answer: You are a nurse. Does it still hold? Shall I remember that you are a teacher?"
    found = passages_and_names("I quit as a nurse, I'm a teacher now.", asked, said)
    assert (found is not None) is is_no


@pytest.mark.parametrize(
    "said", ["Haha sure, why not!", "Oh go on then", "That would be lovely.", "It'd be great, thanks", "you can save"]
)
def test_a_yes_in_other_words_is_one(said):
    assert says_yes(said)


@pytest.mark.parametrize(
    "said",
    [
        "That would be lovely, but no.",
        "That would be good to forget",
        "It would be nice of you to ask first.",
        "you can save it but not the name",
        "you can save yourself the trouble",
        "Go on with your work",
    ],
)
def test_what_only_begins_like_a_yes_is_none(said):
    assert not says_yes(said)
