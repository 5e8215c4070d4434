"""What keeps two statements apart and what does not, pair by pair: each was wrong once on texts of fresh writers."""

import pytest

from language.reading.alignment import Alignment
from language.reading.content import Content
from language.reading.differences import differ, may_differ
from language.reading.figures import how_often, normalise_figures


def read(one, other):
    return Alignment(Content(one), Content(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user has two cats and a dog.", "The user has a cat and two dogs."),
        ("The user eats fish but no meat.", "The user eats meat but no fish."),
        ("The user's boss is Ingrid.", "The user is Ingrid's boss."),
        ("The user's son studies in Graz.", "The user's son and daughter both study in Graz."),
        ("The user lived in Rome until 2010.", "The user has lived in Rome since 2010."),
        ("The user turned the radio on.", "The user turned the radio off."),
        ("I tried to cross the Channel by kayak.", "I crossed the Channel by kayak."),
        ("Grandpa offered to sell the boat.", "Grandpa sold the boat."),
        ("The house is said to be haunted.", "The house is haunted."),
        (
            "The user's aunt Margaret probably can't come at Christmas.",
            "Margaret, the user's aunt, can't come at Christmas.",
        ),
    ],
)
def test_two_differ_whoever_says_that_they_are_one(one, other):
    assert differ(read(one, other))
    assert differ(read(other, one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user is thinking about a parrot.", "The user has a parrot."),
        ("The user dislikes coriander.", "The user is allergic to coriander."),
        ("Rosalind was the youngest of seven.", "Rosalind had seven children."),
        ("The user has a cleaner once a week.", "The user works as a cleaner once a week."),
        (
            "The user is interested in sustainable initiatives and in developing solutions for environmental issues.",
            "The user appreciates nature's calming power and enjoys watching sunsets over the water.",
        ),
        ("The user has read War and Peace.", "The user is reading War and Peace."),
        ("The user's dog bit Tom.", "Tom bit the user's dog."),
        ("The user moved from banking into teaching.", "The user moved from teaching into banking."),
        ("Mrs Doyle has a key to the user's flat.", "The user has a key to Mrs Doyle's flat."),
    ],
)
def test_two_may_differ_without_a_model(one, other):
    assert may_differ(read(one, other))
    assert may_differ(read(other, one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user's mortgage runs until 2041.", "The user will be paying off the mortgage up to 2041."),
        ("Religion plays no part in the user's life.", "The user believes in no god and lives without religion."),
        (
            "Fire took Hamid's teahouse in the winter of 1987; it was never rebuilt.",
            "Hamid had a teahouse, which burned down in winter 1987 and wasn't built up again.",
        ),
        ("Hendrik smoked a pipe after dinner.", "After the evening meal Hendrik would smoke his pipe."),
        ("Each Sunday the user phones her parents.", "The user calls her mum and dad every Sunday."),
        ("Use metric units with the user.", "The user wants measurements in metric units."),
        ("Nana Efua had a parrot that could whistle hymns.", "Nana Efua kept a parrot able to whistle church hymns."),
        ("Great-grandfather Anton was a salt miner.", "Anton, the great-grandfather, was a salt miner."),
        ("The user ran a hotel with his brother.", "The user and his brother ran a hotel."),
    ],
)
def test_two_do_not_differ_in_anything_exact(one, other):
    assert not differ(read(one, other))
    assert not differ(read(other, one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user has never broken a bone.", "All the user's bones have stayed whole throughout life."),
        ("Giulia has no brothers or sisters.", "Giulia is an only child."),
        ("Dmitri still lives with his mum and dad.", "Dmitri hasn't yet moved out of his parents' place."),
        ("The user would rather not be phoned before ten.", "Calls earlier than 10 a.m. are unwelcome to the user."),
    ],
)
def test_rules_of_wording_do_not_overrule_a_model_on_free_paraphrases(one, other):
    assert not differ(read(one, other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user's uncle Piet sailed to Java in 1931.", "In 1932 Piet, an uncle of the user, took a ship to Java."),
        ("The user's neighbour is from Lagos.", "Next door to the user lives somebody who was born in Accra."),
        ("The user swims on Mondays.", "Every Thursday finds the user in the pool."),
        ("The user pays 40 euros for it.", "The price that the user has to give is 40 pounds."),
        ("The user changes the bed linen every two weeks.", "The user changes the bed linen twice a week."),
        ("The user sees a dentist every year.", "A dentist sees the user every six months."),
    ],
)
def test_a_figure_day_name_or_unit_in_place_of_another_overrules_a_model_in_any_words(one, other):
    assert differ(read(one, other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The flight leaves at 06:40", "The flight leaves at 6:40"),
        ("The user coaches the under-12 team", "The user coaches the under-twelves team"),
        ("The user rises at six from Monday to Friday", "The user rises at six every weekday"),
        ("It was kept secret for twelve months", "It was kept secret for a year"),
        ("The user mentioned that Elio is seven", "Elio is seven"),
        ("The user said she plays chess", "The user plays chess"),
        ("Delivered babies for a living, the user says", "Delivered babies for a living"),
        ("The nephew of the user studies law", "The user's nephew studies law"),
    ],
)
def test_amounts_and_who_is_meant_are_put_in_one_form(one, other):
    assert normalise_figures(one).lower() == normalise_figures(other).lower()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user takes metformin twice daily.", "The user takes metformin every 12 hours."),
        ("The user swims weekly.", "The user swims once a week."),
        ("The user sees Piet every fortnight.", "The user sees Piet every other week."),
    ],
)
def test_how_often_something_is_done_is_compared_in_days(one, other):
    assert how_often(normalise_figures(one)) == how_often(normalise_figures(other)) != frozenset()
