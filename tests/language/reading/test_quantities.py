"""Clock times, durations, amounts, scores and dates in one form, however they are written."""

import pytest

from language.reading.alignment import Alignment
from language.reading.content import Content
from language.reading.differences import differ
from language.reading.figures import how_often, normalise_figures
from language.reading.sameness import EmbeddedStatement, StatementPair


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The shop shuts at 7 p.m.", "The shop shuts at 19:00"),
        ("The shop shuts at 7pm", "The shop shuts at seven in the evening"),
        ("Choir on Thursday evenings at eight", "Choir on Thursday evenings at 8 p.m."),
        ("Dinner is at six sharp", "Dinner is at 6 pm sharp"),
        ("The user goes to bed at 9.30 p.m.", "The user goes to bed at half past nine"),
        ("The alarm rings at 6.45 am", "The alarm rings at quarter to seven in the morning"),
        ("The bus leaves at twenty past eight", "The bus leaves at 8:20"),
        ("The bus leaves at ten to six", "The bus leaves at 5:50"),
        ("The final ended 3–1", "The final ended three to one"),
        ("Between twenty and thirty guests", "20–30 guests"),
        ("In charge from 2019–2023", "In charge from 2019 to 2023"),
        ("The blood pressure is 150 over 95", "The blood pressure is 150/95"),
        ("The puppy weighs 1.5 kg", "The puppy weighs one and a half kilograms"),
        ("The walk is 2½ miles", "The walk is two and a half miles"),
        ("It takes an hour and a half", "It takes 90 minutes"),
        ("It takes two and a half hours", "It takes 150 min"),
        ("A half-hour commute", "A 30-minute commute"),
        ("Sober for three quarters of a year", "Sober for nine months"),
        ("Snowed in for seven days", "Snowed in for a week"),
        ("Away for 24 months", "Away for two years"),
        ("The salary is £52k", "The salary is 52,000 pounds"),
        ("The house cost 1.5 million euros", "The house cost €1,500,000"),
        ("The wedding was on the twenty-first of June", "The wedding was on 21 June"),
        ("Her eightieth birthday", "Her 80th birthday"),
        ("Deserted in '44", "Deserted in 1944"),
        ("Records from the fifties", "Records from the 1950s"),
        ("The user is 6'2\" tall", "The user is six foot two tall"),
        ("Doctor Patel and Saint Ives", "Dr. Patel and St. Ives"),
        ("The user has no brothers or sisters", "The user has no siblings"),
        ("The user stands 1.80 m", "The user stands 180 cm"),
        ("The user runs 5 km", "The user runs 5,000 meters"),
        ("A bottle of 0.5 l", "A bottle of 500 ml"),
        ("The parcel weighs 2 kilos", "The parcel weighs 2,000 g"),
        ("Born in the nineteen-thirties", "Born in the 1930s"),
        ("Born in nineteen thirty-two", "Born in 1932"),
        ("Died on Christmas Eve 1999", "Died on 24/12/1999"),
        ("The rent goes out on the first of each month", "The rent goes out on the 1st of every month"),
    ],
)
def test_one_quantity_has_one_form(one, other):
    assert normalise_figures(one).lower() == normalise_figures(other).lower()


@pytest.mark.parametrize(
    "text",
    [
        "The phone number is 555-1234",
        "The flat is for 2 to 4 people",
        "The baby is a 12-month-old",
        "The user starts at 6",
        "The user has breakfast at 7 and dinner at 8",
        "The user goes to bed at 1",
        "The sauce serves one and half the family likes it",
        "The user knows " + "3" * 5_000 + " by heart",
    ],
)
def test_what_is_no_such_quantity_stays_as_it_is(text):
    assert normalise_figures(text) == text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user starts work at 6 a.m.", "The user starts work at 6 p.m."),
        ("The user starts work at 6 in the morning.", "The user starts work at 6 in the evening."),
        ("The team lost 3–1.", "The team lost 1–3."),
        ("The team won three to one.", "The team won three to two."),
        ("The user's blood pressure is 150 over 95.", "The user's blood pressure is 150/90."),
        ("The parcel weighs one and a half kilos.", "The parcel weighs two and a half kilos."),
        ("The commute takes half an hour.", "The commute takes an hour and a half."),
        ("The anniversary is on the twenty-first of June.", "The anniversary is on the first of June."),
        ("The user takes two doses daily.", "The user takes three doses daily."),
        ("The user takes it twice a day.", "Three doses a day are taken by the user."),
    ],
)
def test_other_quantities_keep_two_apart(one, other):
    assert differ(Alignment(Content(one), Content(other)))
    assert differ(Alignment(Content(other), Content(one)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user prays five times a day", "The user performs the five daily prayers"),
        ("The user has dialysis three times a week", "Three weekly dialysis sessions"),
        ("The user takes two tablets every day", "The user takes tablets twice a day"),
    ],
)
def test_what_is_counted_may_be_how_often_it_is_done(one, other):
    assert how_often(normalise_figures(one)) & how_often(normalise_figures(other))


@pytest.mark.parametrize(
    ("one", "other", "are_apart"),
    [
        ("The user sees the notary at half past two.", "The user sees the notary at 14:30.", False),
        ("The user sees the notary at half past two.", "The user sees the notary at 15:30.", True),
        ("The user sees the notary at 2:30 am.", "The user sees the notary at 14:30.", True),
        ("The user is taller than their son.", "The user's son is shorter than the user.", False),
        ("The user is taller than their son.", "The user's son is taller than the user.", True),
    ],
)
def test_what_one_leaves_unsaid_is_read_by_the_other(one, other, are_apart):
    assert StatementPair(EmbeddedStatement(one), EmbeddedStatement(other)).differs is are_apart
