"""Loose lines of chats and lists: subjects left out, names told apart, labels, telegrams, reasons in passing."""

import pytest

from language.reading.statements import read
from tests.language.offline_talk import conversation


def told(*said, legacy=None):
    return [one.content for one in read(conversation(*said, legacy=legacy)).statements]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            ("guide> Tell me about your children.", "Tom. Glasgow. Electrician. Divorced, poor lamb."),
            [
                "The user's son Tom lives in Glasgow.",
                "The user's son Tom is an electrician.",
                "The user's son Tom is divorced.",
            ],
        ),
        (
            ("guide> Tell me about yourself.", "Ben. Cardiff. Plumber."),
            ["The user's name is Ben.", "The user lives in Cardiff.", "The user is a plumber."],
        ),
        (("Widow. Three children.",), ["The user is a widow.", "The user has three children."]),
        (("Thursdays choir.",), ["On Thursdays the user has choir."]),
        (("Medicines: metformin at night.",), ["The user takes metformin at night."]),
        (("Born: 22 May 1978, Arima.",), ["The user was born on 22 May 1978, Arima."]),
        (
            ("Food. Can cook: pelau. Won't eat: mushrooms.",),
            ["The user can cook pelau.", "The user does not eat mushrooms."],
        ),
        (("Yes. Health: asthma, bad knees.",), ["The user has asthma.", "The user has bad knees."]),
        (("Ha. Fears: escalators.",), ["The user is afraid of escalators."]),
        (
            ("I'm 27, live in Leeds, work as a nurse.",),
            ["The user is 27.", "The user lives in Leeds.", "The user works as a nurse."],
        ),
        (("Wife: Siobhan, from Cork.",), ["The user's wife is Siobhan.", "The user's wife Siobhan is from Cork."]),
        (
            ("guide> And your son?", "Tom, 34, has asthma."),
            ["The user's son Tom is 34.", "The user's son Tom has asthma."],
        ),
        (
            ("guide> And your son?", "Tom, 34, loves jazz, bless him."),
            ["The user's son Tom is 34.", "The user's son Tom loves jazz."],
        ),
        (
            ("guide> Your son sounds kind. What about you?", "Ben. Cardiff. Plumber."),
            ["The user's name is Ben.", "The user lives in Cardiff.", "The user is a plumber."],
        ),
        (("No. Health: asthma.",), ["The user has asthma."]),
        (("I'm a nurse, born in Leeds.",), ["The user is a nurse.", "The user was born in Leeds."]),
    ],
)
def test_telegrams_and_lists_are_read(said, expected):
    assert told(*said) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (("got a puppy, his name is biscuit",), ["The user got a puppy called Biscuit."]),
        (
            ("i got a brother. leo. hes 19",),
            ["The user got a brother called Leo.", "The user's brother Leo is 19."],
        ),
        (("were saving for a house in pudsey",), ["The user is saving for a house in Pudsey."]),
        (("my cuz raised me",), ["The user's cousin raised the user."]),
        (
            ("my boss is kind", "guide> Good.", "oh fell off a roof in june. broke my wrist"),
            ["The user fell off a roof in June.", "The user broke the user's wrist."],
        ),
        (("my gogo raised me",), ["The user's gogo raised the user."]),
    ],
)
def test_chats_leave_out_who(said, expected):
    assert told(*said)[-len(expected) :] == expected


@pytest.mark.parametrize(
    ("said", "legacy", "expected"),
    [
        (
            'The last thing she said to me was "mind the step".',
            "Rosa",
            'The last thing Rosa said to Ana was "mind the step".',
        ),
        ("The house she built still stands in Faro.", "Rosa", "The house Rosa built still stands in Faro."),
        ("She began to bruise in May. It was cancer.", "Rosa", "Rosa had cancer."),
        ("She was the sixth of nine.", "Rosa", "Rosa was the sixth of nine."),
        ("My parents separated when I was seven.", "Rosa", "The user's parents separated when the user was seven."),
        ("The doctor told me I must, because I have asthma.", None, "The user has asthma."),
        ("I had a brother. He died in 1990.", None, "The user's brother died in 1990."),
        ("I can't bake at all.", None, "The user cannot bake at all."),
        ("My sister swam like a seal.", None, "The user's sister swam like a seal."),
        ("He and I drive the highway.", "Otto", "Otto and Ana drive the highway."),
        ("I moved to The Hague in 2010.", None, "The user moved to The Hague in 2010."),
        ("I work for The Guardian.", None, "The user works for The Guardian."),
        ("I want to keep working on my novel.", None, "The user wants to keep working on the user's novel."),
        ("I have a brother. Sadly, he is ill.", None, "The user's brother is ill."),
        ("I have a brother. Sometimes, he is ill.", None, "The user has a brother."),
        ("Never even been on a plane.", None, "The user has never even been on a plane."),
        ("I am afraid from the wind.", None, "The user is afraid of the wind."),
    ],
)
def test_what_is_told_beside_the_point_is_kept(said, legacy, expected):
    assert expected in told(*([f"{legacy} was a baker."] if legacy else []), said, legacy=legacy)


@pytest.mark.parametrize(
    ("said", "legacy"),
    [
        ("I am terrible.", None),
        ("I retired early, so I could drive him to Halifax.", None),
        ("I ate. With her eyes shut half the time.", "Rosa"),
        ("We are nine in the choir.", None),
        ("We haven't spoken since the wedding.", None),
        ("He said he left because he was ill.", None),
        ("If you come because I have asthma, bring soup.", None),
        ("We are going to Crete, the three of us.", None),
        ("Customer: I want a refund.", None),
        ("Name: Brian. Status: open.", None),
        ("J. Smith: I have diabetes", None),
        ("Rev. Brown: I'm allergic to nuts", None),
        ("Front desk: I'm based in Porto.", None),
        ("Leeds. Retired. Divorced.", None),
        ("I have a brother. Tragically, he is ill.", None),
        ("I'm visiting my gran, born in 1932.", None),
        ("I have a dog, his name is on the collar.", None),
    ],
)
def test_what_is_no_statement_of_the_user(said, legacy):
    wrong = (
        *("terrible", "nine", "spoken", "drive", "shut", "left", "asthma", "three of", "refund", "Brian", "called"),
        *("diabetes", "nuts", "Porto", "Leeds", "1932"),
    )
    assert not [one for one in told(said, legacy=legacy) if any(each in one for each in wrong)]


@pytest.mark.parametrize(
    ("said", "legacy", "expected"),
    [
        ("My own father was a saddler. He was kind.", "Father Declan Moriarty", "The user's own father was a saddler."),
        ("Joaquin loved boxing.", "Joaquín Reyes", "Joaquín loved boxing."),
        (
            "Otto was kind. He had a weakness for maps, Otto, and hid them.",
            "Otto",
            "Otto had a weakness for maps and hid them.",
        ),
    ],
)
def test_names_of_the_legacy_as_people_say_them(said, legacy, expected):
    assert expected in told(said, legacy=legacy)


@pytest.mark.parametrize(
    ("said", "legacy"),
    [
        ("were trying to have a baby. ivf. 2nd round in april", None),
        ("I want to save stuff about my grandpa Otto.", "Otto"),
        ("He boxed in Ulm. At least he said he did.", "Otto"),
        ("He was 84 I think.", "Otto"),
        ("I tried for years.", None),
    ],
)
def test_what_says_too_little_or_is_doubted(said, legacy):
    wrong = ("called", "save", "said", "84", "tried")
    assert not [one for one in told(said, legacy=legacy) if any(each in one for each in wrong)]


def test_a_relative_whose_sex_fits_the_legacy_is_not_the_next_he():
    assert "Otto was a miner." in told("Otto was tall. He had a brother. He was a miner.", legacy="Otto")


def test_siblings_asked_for_without_a_verb_are_the_users():
    said = ("My dad was a baker.", "guide> Siblings?", "A sister, Camille.")
    assert told(*said)[-1] == "The user has a sister, Camille."


def test_a_place_is_nobodys_name():
    said = ("guide> Where does your son live, and what does he do?", "Glasgow. Electrician.")
    assert not [one for one in told(*said) if "son Glasgow" in one]


def test_who_was_born_there_may_be_the_one_named_last():
    assert "The user was born in Leeds." not in told("I'm married to Ann, born in Leeds.")


@pytest.mark.parametrize(
    ("said", "expected"),
    [("Never eat: plums.", "Otto never ate plums."), ("Don't eat: plums.", "Otto did not eat plums.")],
)
def test_what_the_dead_never_did_is_told_in_the_past(said, expected):
    assert (
        told("Otto was a baker. He was tall.", "guide> Tell me more about Otto.", said, legacy="Otto")[-1] == expected
    )


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("I am the sixth of nine.", "relationship"),
        ("I am the 4th of 7.", "relationship"),
        ("I have a coupon worth of 20 pounds.", ""),
    ],
)
def test_an_order_of_birth_is_told_by_its_numeral(said, kind):
    assert [one.kind for one in read(conversation(said)).statements] == [kind]
