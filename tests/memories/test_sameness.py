"""What keeps two statements apart and what does not, pair by pair: each was wrong once on texts of fresh writers."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from benchmarks import sameness as near
from benchmarks.evaluation.duplicates import scored
from language import backends
from language.backends import get_embedder
from language.entailment.model import EntailmentUnavailable
from language.reading.alignment import Alignment
from language.reading.content import Content
from language.reading.differences import differ, differ_in_telling
from language.reading.figures import how_often, normalise_figures
from language.reading.sameness import EmbeddedStatement, StatementPair
from memories.policy.alike import may_be_one


@pytest.fixture
def _meant(settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"


def read(one, other):
    return Alignment(Content(one), Content(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user's dog is trained as a guide dog.", "The user trains guide dogs."),
        ("Grandma Eun-ji made kimchi in clay pots.", "Grandma Eun-ji made clay pots for kimchi."),
        ("The user has two cats and a dog.", "The user has a cat and two dogs."),
        ("The user eats fish but no meat.", "The user eats meat but no fish."),
        ("The user's boss is Ingrid.", "The user is Ingrid's boss."),
        ("The user's son studies in Graz.", "The user's son and daughter both study in Graz."),
        ("Maria has a phobia of spiders.", "The user is scared of spiders."),
        ("Ravi suffers from migraines.", "The user gets migraines."),
        ("Grandma is on a vegan diet.", "The user eats nothing that comes from animals."),
        ("The user's father taught Latin for 38 years.", "The user's father learnt Latin at the age of 38."),
        ("The user's migraines last about two days.", "The user's migraines come about every two days."),
        ("The user cannot swim.", "The user is not allowed to swim until the wound has healed."),
        ("The user used to sing in a choir.", "The user sings in a choir."),
        ("The user used to fear dogs.", "The user is afraid of dogs."),
        ("Her niece is six.", "The user has six nieces."),
        ("The user teaches nine-year-olds.", "The user has been teaching for nine years."),
        ("The user has seen a physio for three months.", "The user saw a physio three months ago."),
    ],
)
def test_two_differ_whoever_says_that_they_are_one(one, other):
    assert differ(read(one, other))
    assert differ(read(other, one))


@pytest.mark.usefixtures("_meant")
@pytest.mark.parametrize(
    ("one", "other"),
    [
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
def test_two_that_tell_it_of_another_time_or_otherwise_differ_unless_the_network_too_knows_better(one, other):
    assert differ_in_telling(read(one, other))
    assert not may_be_one(one, other)
    assert not may_be_one(other, one)


@pytest.mark.usefixtures("_meant")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user plans to move to Denmark next year.", "A move to Denmark is on the user's agenda for next year."),
        ("The user has the keys to the village hall.", "The user is a keyholder for the village hall."),
        ("Two of the user's hens were taken by a fox.", "A fox killed two hens belonging to the user."),
    ],
)
def test_a_model_is_asked_where_the_network_knows_better(settings, one, other):
    assert may_be_one(one, other)
    assert not is_one(one, other)
    settings.KEEPSAKE_ENTAILMENT = "off"
    assert not may_be_one(one, other)


@pytest.mark.usefixtures("_meant")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user keeps six hens.", "The user has half a dozen hens."),
        ("The user's mother comes from the UK.", "The user's mother is from the United Kingdom."),
        ("The user's son studies in the United States.", "The user's son is studying in the USA."),
        ("The user lives in the U.S.", "The user lives in America."),
        ("The user earns $90.", "The user earns 90 US dollars."),
        ("The user keeps six hens.", "The user keeps half-a-dozen hens."),
        ("His cholesterol levels are elevated.", "The user has high cholesterol."),
        ("Likes autumn best of all the seasons.", "The user's favorite season is autumn."),
    ],
)
def test_half_a_dozen_a_short_name_of_a_land_and_a_plural_make_no_difference(one, other):
    assert may_be_one(one, other)


@pytest.mark.usefixtures("_meant")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user won Miss America.", "The user won Miss USA."),
        ("The user banks with Bank of America.", "The user banks with US Bank."),
        ("The user has one and a half dozen cousins.", "The user has six cousins."),
        ("His employees have diabetes.", "The user has diabetes."),
        ("Her patients are depressed.", "The user is depressed."),
        ("Banks owes 90 euros.", "The user owes 90 euros."),
        ("The user's house is 20 years old.", "The user has had the house for 20 years."),
        ("Tom visits us every week.", "Tom visits the US every week."),
    ],
)
def test_nobody_is_asked_about_another_name_number_or_person_for_it(one, other):
    assert not may_be_one(one, other)
    assert not may_be_one(other, one)


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
@pytest.mark.usefixtures("_meant")
@pytest.mark.parametrize("network", ["bundled", "off"])
def test_two_are_not_one_without_a_model(settings, network, one, other):
    settings.KEEPSAKE_ENTAILMENT = network
    assert not is_one(one, other)
    assert not is_one(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user blames the fire on Tom.", "The user blames Tom for the fire."),
        ("The user filled the jar with beans.", "The user filled beans into the jar."),
        ("The user's migraines come every two days.", "The user gets a migraine once in two days."),
        ("The user is 38.", "The user is 38 years of age."),
        ("The user never drinks coffee.", "The user does not drink coffee at all."),
        ("The user drinks no coffee until breakfast is over.", "The user drinks coffee only after breakfast."),
        ("The user's house was built by Tom.", "Tom built the user's house."),
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
        ("The user takes 20 mg of omeprazole", "The user takes twenty milligrams of omeprazole"),
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


WORDED_ANEW = "The user skips breakfast.", "The user doesn't eat anything in the morning."


def is_one(one, other):
    return StatementPair(EmbeddedStatement(one), EmbeddedStatement(other)).is_duplicate


@pytest.fixture
def network(monkeypatch):
    """The entailment network, as a mock that fails; ``judge_pairs`` can be given something else."""
    made = Mock()
    made.judge_pairs.side_effect = EntailmentUnavailable("gone")
    monkeypatch.setattr(backends, "get_entailment", lambda: made)
    return made


@pytest.mark.usefixtures("_meant")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        WORDED_ANEW,
        ("The user started wearing glasses at seven.", "The user has worn spectacles since the age of seven."),
        ("The user has no hearing in the right ear.", "The user is deaf on the right side."),
    ],
)
def test_what_words_leave_open_is_one_where_each_follows_from_the_other(settings, one, other):
    assert is_one(one, other)
    assert is_one(other, one)
    settings.KEEPSAKE_ENTAILMENT = "off"
    assert not is_one(one, other)


@pytest.mark.usefixtures("_meant")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user's dog bit Tom.", "Tom bit the user's dog."),
        ("The user dislikes coriander.", "The user is allergic to coriander."),
        ("Rosalind was the youngest of seven.", "Rosalind had seven children."),
        ("The user sold his share to Viktor.", "The user bought Viktor's share."),
        ("Elio is said to have been a pirate.", "Elio was a pirate."),
        (
            "Rosa finds comfort in ways to keep her mother's memory alive, particularly through artwork.",
            "Rosa has a pendant that reminds her of her mother.",
        ),
        ("Great-Aunt Odile spoke Breton.", "Great-Aunt Odile understood Breton but never spoke it."),
    ],
)
def test_what_turns_a_statement_round_or_contradicts_it_is_another(one, other):
    assert not is_one(one, other)
    assert not is_one(other, one)


@pytest.mark.usefixtures("_meant")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user dislikes olives.", "The user dislikes olive oil."),
        ("The user's cat had four kittens.", "The user kept four of the cat's kittens."),
        ("The user's mother lives with her.", "The user's mother lives near her."),
        ("The user rents a flat in Ghent.", "The user rents out a flat in Ghent."),
        ("The user likes painting.", "The user likes paintings."),
        ("The user's brother is getting married.", "The user's brother is married."),
        ("The user's son is good at maths.", "The user's son likes maths."),
        ("The user works nights.", "The user works late."),
        ("The user watches films in French.", "The user watches French films."),
        ("The user prefers texts to calls.", "The user hates calls."),
        ("The user's boss is strict.", "The user is a strict boss."),
        ("The user is tuning the piano.", "The user is a piano tuner."),
        ("The user wants dates written as day, month, year.", "The user wants dates written as year, month, day."),
        (
            "The user does yoga and meditation to relax and stay focused.",
            "The user does yoga and meditation to relax and find time for herself.",
        ),
        (
            "Nate expresses that his support for Joanna is important and that he is there for her.",
            "Nate is supportive of Joanna and expresses his support for her screenplay.",
        ),
        ("The user got the contract to sign.", "The user signed the contract."),
        ("The user has had the dog for a year.", "The user's dog is a year old."),
        ("The user has kept the hens for three months.", "The user's hens are three months old."),
        ("The user reads Dutch and speaks French.", "The user speaks Dutch and French."),
        ("The user writes poems and sings folk songs.", "The user writes folk songs and poems."),
        ("The user is not on social media.", "The user doesn't post on social media."),
        ("The user is not religious.", "The user doesn't go to church."),
        ("The user's child is the youngest in school.", "The user's youngest child is in school."),
        ("The user takes medicine for high blood pressure.", "The user's blood pressure is high from a medicine."),
        ("The user takes aspirin when the head hurts.", "The user's head hurts from aspirin."),
        ("The user is nervous when singing.", "The user sings when nervous."),
        ("The user runs to stay fit.", "The user is fit enough to run."),
        ("The user works in order to travel.", "The user travels for work."),
        ("The user pays half the rent.", "The user's rent was halved."),
        ("The user bought three of the artist's paintings.", "The artist painted three pictures for the user."),
        ("The user's daughter has a degree in law.", "The user's daughter-in-law has a degree."),
        ("The user's grandfather was a miner.", "The user's grandfather owned a mine."),
        ("The user has a garden.", "The user is a gardener."),
        ("The user sings and is married.", "The user is married to a singer."),
    ],
)
def test_a_small_difference_that_the_network_does_not_see_is_left_to_a_model(one, other):
    assert not is_one(one, other)
    assert not is_one(other, one)


@pytest.mark.usefixtures("_meant")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user hates flying.", "The user can't stand flying."),
        ("The user has no pets.", "The user doesn't have any pets."),
        ("The user has a PhD in botany.", "The user holds a doctorate in botany."),
        ("The user gets migraines.", "The user suffers from migraines."),
        ("The user's daughter has asthma.", "The user's daughter is asthmatic."),
        ("The user wakes up at half past five.", "The user gets up at 5:30."),
        ("The user works as a locksmith.", "The user earns a living as a locksmith."),
        ("Elif was born in Izmir in 1961.", "Elif was born in 1961 in Izmir."),
        ("The user isn't a smoker.", "The user doesn't smoke."),
        ("The user is not able to drive a car.", "The user can't drive."),
    ],
)
def test_another_turn_of_phrase_in_one_place_is_one(one, other):
    assert is_one(one, other)


@pytest.mark.slow
@pytest.mark.usefixtures("_meant")
def test_of_near_pairs_that_nothing_was_trained_on_none_is_merged_wrongly():
    scores = scored(Path(near.__file__).with_name("near.tsv"), get_embedder())
    assert scores.count(scores.apart, asks=False) == 0
    assert scores.count(scores.same, asks=False) >= 0.75 * len(scores.same)


@pytest.mark.usefixtures("_meant")
def test_without_the_network_the_words_decide(network):
    assert not is_one(*WORDED_ANEW)
    assert is_one("The user plays the cello in an amateur orchestra.", "User is a cellist in an orchestra of amateurs.")
    assert network.judge_pairs.called


@pytest.mark.usefixtures("_meant")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user has two cats.", "The user has three cats."),
        ("The user has two cats.", "Nothing beats a walk in the rain."),
        ("The user's dog bit Tom.", "Tom bit the user's dog."),
    ],
)
def test_the_network_is_not_asked_where_the_words_tell(network, one, other):
    assert not is_one(one, other)
    assert not network.judge_pairs.called


def test_with_another_embedder_the_network_is_not_asked(network, settings):
    settings.KEEPSAKE_EMBEDDER = "hashing"
    is_one(*WORDED_ANEW)
    assert not network.judge_pairs.called
