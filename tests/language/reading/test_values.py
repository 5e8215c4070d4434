"""The value that a message gives in the place of a memory's, and how the memory reads with it."""

import pytest

from language.reading.values import new_wording

CHOIR, GYM = "The user's choir rehearses on Tuesdays.", "The user goes to the gym three times a week."


@pytest.mark.parametrize(("memory", "said", "then"), [
    (CHOIR, "Rehearsal isn't Tuesday but Thursday.", "The user's choir rehearses on Thursdays."),
    (CHOIR, "no longer tues, its weds", "The user's choir rehearses on Wednesdays."),
    ("The user saves 150 euros a month.", "It's now €200, previously 150.", "The user saves 200 euros a month."),
    ("The user weighs 92 kilos.", "88 kg (previously 92)", "The user weighs 88 kilos."),
    ("The user's birthday is on 14 March.", "its the 24th not the 14th", "The user's birthday is on 24 March."),
    ("The user's birthday is on 14 March.", "It's the twenty-fourth of March, not the fourteenth!",
     "The user's birthday is on 24 March."),
    ("The party is on the twelfth of June.", "It's on 3 July, not on 12 June.", "The party is on the third of July."),
    ("The user lives on the third floor.", "We live on the twenty-second floor, not the third.",
     "The user lives on the twenty-second floor."),
    ("The user's feast is on 3 May.", "It's the thirteenth, not the third.", "The user's feast is on 13 May."),
    ("The user's exam is on June 3.", "It isn't the 3rd of June but 1 July.", "The user's exam is on July 1."),
    ("The user lives on the third floor.", "Did I say third? I meant fourth.", "The user lives on the fourth floor."),
    ("The user gets up at 5:30.", "My alarm is at 6:45 now, 5:30 was too early.", "The user gets up at 6:45."),
    ("The user's parrot is called Koko.", "It's Kiko with an i, not Koko.", "The user's parrot is called Kiko."),
    ("The user uses Trello for work.", "we switched from trello to linear at work", "The user uses Linear for work."),
    ("The user plays the viola.", "Not the viola but the oboe.", "The user plays the oboe."),
    ("The user's cat is called Misty.", "the cat is called Mitzi, not Misty", "The user's cat is called Mitzi."),
    ("The user drives a Ford Fiesta.", "Traded the Fiesta in, swapped Fiesta for a Volvo.", "The user drives a Volvo."),
])  # fmt: skip
def test_it_is_put_in_the_place_of_the_old_one_that_the_message_denies(memory, said, then):
    found = new_wording(memory, said)
    assert found is not None
    assert (found.content, found.contrasts) == (then, True)


@pytest.mark.parametrize(("memory", "said", "then"), [
    (GYM, "2x a week in January", "The user goes to the gym twice a week."),
    ("The user has two cats.", "That makes three cats.", "The user has three cats."),
    ("The user's passport expires in June 2025.", "good until May 2035", "The user's passport expires in May 2035."),
])  # fmt: skip
def test_one_beside_no_old_one_sets_nothing_against_it(memory, said, then):
    found = new_wording(memory, said)
    assert found is not None
    assert (found.content, found.contrasts) == (then, False)


@pytest.mark.parametrize(("memory", "said"), [
    ("The user smokes ten cigarettes a day.", "three months without"),
    ("The user's phone is an iPhone 12.", "im on a pixel 9 now"),
    ("The user goes to bed at 11.", "In bed by nine thirty."),
    ("The user gets up at 6:30.", "I get up at half six."),
    ("The user's choir meets at 7 p.m.", "Choir is at 19:00 as always, but at 7 sharp now."),
    ("The user's team has seven people.", "We meet at 8 in the evening now."),
    ("The user earns 40k.", "I'm up to 45kg on the bench."),
    ("The user's aunt died in 1985.", "She was 78."),
    ("The user drinks two cups of tea.", "I drank one cup with Olga and then two cups, three in all."),
    (CHOIR, "On Tuesday we rehearse, on Friday we sing."),
    (CHOIR, "The choir meets on the first Sunday of the month."),
    ("The user's provider is Telekom.", "I switched from Telekom to another one."),
    ("The user's rent is paid by Tom.", "It's Ann, not Rex."),
    ("The user trains for the Oslo half marathon.", "So training for the Oslo marathon, not the half."),
])  # fmt: skip
def test_what_is_unclear_or_counts_something_else_is_left(memory, said):
    assert new_wording(memory, said) is None


@pytest.mark.parametrize(("memory", "said", "then"), [
    ("The user gets up at 7 a.m.", "I get up at half 6 now.", "The user gets up at half 6."),
    ("The user gets up at 7 a.m. on Mondays.", "It's half six now.", "The user gets up at half six on Mondays."),
    ("The user's class is at 9:30.", "The class is at quarter to 9 now.", "The user's class is at quarter to 9."),
    ("The user naps at 1 a.m.", "I nap at 2 in the afternoon.", "The user naps at 2 in the afternoon."),
    ("The user's choir meets at 19:00.", "We meet at 8 pm now.", "The user's choir meets at 8 pm."),
    ("The user's choir meets at 7 p.m.", "We meet at 20:00 now.", "The user's choir meets at 20:00."),
    # One that says no half of the day has the old one's if it is near.
    ("The user's choir meets at 7 in the evening.", "We meet at 8 now.", "The user's choir meets at 8 in the evening."),
    ("The user's shift ends at 11 p.m.", "My shift ends at 1 now.", "The user's shift ends at 1."),
])  # fmt: skip
def test_a_time_of_day_is_put_as_it_is_said(memory, said, then):
    found = new_wording(memory, said)
    assert found is not None
    assert found.content == then


@pytest.mark.parametrize(("memory", "said", "then"), [
    ("The user runs 5 km on Sundays.", "I'm up to 8k on Sundays.", "The user runs 8 km on Sundays."),
    ("The user lifts 50kg.", "Up to 60kg now.", "The user lifts 60kg."),
])  # fmt: skip
def test_a_unit_may_stand_right_behind_its_number(memory, said, then):
    found = new_wording(memory, said)
    assert found is not None
    assert found.content == then
