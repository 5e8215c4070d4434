"""What is stored of the user in the third person, told to that person."""

import pytest

from language.second_person import second_person, told_to


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        ("The user prefers tea.", "You prefer tea."),
        ("Nuts make the user ill.", "Nuts make you ill."),
        ("Crowds make the user nervous.", "Crowds make you nervous."),
        ("Hospitals scare the user because of the user's dad.", "Hospitals scare you because of your dad."),
        ("The noise makes the user's dog nervous.", "The noise makes your dog nervous."),
        ("The user's boss annoys the user.", "Your boss annoys you."),
        (
            "The user's grandmother taught the user to knead bread when the user was six.",
            "Your grandmother taught you to knead bread when you were six.",
        ),
        ("The user's landlord is suing the user for unpaid rent.", "Your landlord is suing you for unpaid rent."),
        ("Luis lent the user forty thousand euros.", "Luis lent you forty thousand euros."),
        ("The user's dog is called Rufus.", "Your dog is called Rufus."),
        ("The user's uncle Bram keeps bees in Bruges.", "Your uncle Bram keeps bees in Bruges."),
        ("Alec is the user's boss.", "Alec is your boss."),
        ("The user’s sister lives in Porto.", "Your sister lives in Porto."),
        ("The user is a nurse.", "You are a nurse."),
        ("The user has two cats.", "You have two cats."),
        ("The user was born in Ghent.", "You were born in Ghent."),
        ("The user doesn't eat meat.", "You don't eat meat."),
        ("The user does not drink coffee.", "You do not drink coffee."),
        ("The user isn't a morning person.", "You aren't a morning person."),
        ("The user studies law.", "You study law."),
        ("The user watches birds.", "You watch birds."),
        ("The user uses Linux.", "You use Linux."),
        ("The user organizes a choir.", "You organize a choir."),
        ("The user goes to bed at nine.", "You go to bed at nine."),
        ("The user moved to Lisbon in 2019.", "You moved to Lisbon in 2019."),
        ("The user went to Peru.", "You went to Peru."),
        ("The user can't swim.", "You can't swim."),
        ("The user also often travels by train.", "You also often travel by train."),
        ("The user notices that the user is losing weight.", "You notice that you are losing weight."),
        ("The user shot a swan once, when the user was ten.", "You shot a swan once, when you were ten."),
        ("The user hid because the user had no ticket.", "You hid because you had no ticket."),
        ("The user knows that the user is watched.", "You know that you are watched."),
        ("The user no longer smokes.", "You no longer smoke."),
        ("The user lives in Porto and works at the docks.", "You live in Porto and work at the docks."),
        ("The user is a nurse and has two sons.", "You are a nurse and have two sons."),
        ("The user has a dog, is a vet and doesn't travel.", "You have a dog, are a vet and don't travel."),
        ("The user likes tea and toast.", "You like tea and toast."),
        ("The user lives in Porto. The user's cat is old.", "You live in Porto. Your cat is old."),
        ("The user says the dog is ill.", "You say the dog is ill."),
        ("The user's daughter Mia turned 6.", "Your daughter Mia turned 6."),
        ("The user moved for the user's wife's new job.", "You moved for your wife's new job."),
        ("The user knows Dr. Smith and works at the docks.", "You know Dr. Smith and work at the docks."),
        ("The user is a nurse at St. Luke's hospital.", "You are a nurse at St. Luke's hospital."),
        ("The user's grandson visits the user every Sunday.", "Your grandson visits you every Sunday."),
        ("The user's sister is the user's boss.", "Your sister is your boss."),
        (
            "The user's grandfather Abel used to say that he had the best view.",
            "Your grandfather Abel used to say that he had the best view.",
        ),
        (
            "The user's dad used to play the user Coltrane records when the user was little.",
            "Your dad used to play you Coltrane records when you were little.",
        ),
        ("The user's aunt stays because she likes the sea.", "Your aunt stays because she likes the sea."),
        ("The user's neighbour Paul owes money to his bank.", "Your neighbour Paul owes money to his bank."),
        ("The user's mum Farida is having her hip done.", "Your mum Farida is having her hip done."),
        ("The user's dog lost his ball in May.", "Your dog lost his ball in May."),
        ("The user keeps bees on the roof of her house.", "You keep bees on the roof of your house."),
        ("The user sold his boat in Hull and keeps his oars.", "You sold your boat in Hull and keep your oars."),
        ("The user visits her sister.", "You visit your sister."),
        ("Every Thursday the user plays five-a-side.", "Every Thursday you play five-a-side."),
        ("In May 2024 the user's son broke his arm.", "In May 2024 your son broke his arm."),
        ("Since last winter, the user is a vegan.", "Since last winter, you are a vegan."),
        ("Anyhow, the user does not eat meat anymore.", "Anyhow, you do not eat meat anymore."),
        (
            "The user and the user's wife Ingeborg had been married for 41 years.",
            "You and your wife Ingeborg had been married for 41 years.",
        ),
        (
            "The user beat Rosa for the first time when the user was nineteen.",
            "You beat Rosa for the first time when you were nineteen.",
        ),
        ("Rosa taught the user and the user's sister.", "Rosa taught you and your sister."),
        ("Whenever the user is tired, the user's dog is quiet.", "Whenever you are tired, your dog is quiet."),
        ("Ingeborg, the user's wife, was born in Mechelen.", "Ingeborg, your wife, was born in Mechelen."),
        ("Luckily the user has never been ill.", "Luckily you have never been ill."),
        ("Rosa's boat was sold before the user was born.", "Rosa's boat was sold before you were born."),
        ("The user likes cats and dogs.", "You like cats and dogs."),
        ("The user has a dog that barks and is old.", "You have a dog that barks and is old."),
    ],
)
def test_it_is_told_in_the_second_person(stored, told):
    assert second_person(stored) == told


@pytest.mark.parametrize(
    "stored",
    [
        "Olga rows on Tuesdays.",
        "I live in Porto.",
        "",
        "The user",
        "The user visits their sister.",
        "The user looks after Anna on the roof of her house.",
        "The user writes to Anna about her garden.",
        "The user visits her sister in her garden.",
        "The user walks the dog in her garden.",
        "The user met a colleague in his office.",
        "The user paints her house and his boat.",
        "The user misses her.",
        "The user's brother calls him daily.",
        "The user's brother told her to rest.",
        "The user's brother was tired and she drove.",
        "The user's vegan.",
        "The user's Scottish.",
        "The user's aunt thinks she should rest.",
        "Every Thursday the user visits their sister.",
        "On Mondays the users swim.",
        "The user's allergic to nuts.",
        "The user's tired.",
        "The user's very tired of it.",
        "The user settings are dark.",
        "The user, a nurse, lives in Porto.",
        "The user who sings is tall.",
        "The user sings and yodels.",
        "The preferred name of the user is Bobby.",
        "The user enjoys long walks and rides in the country.",
        "A friend of the user's, the user settings and the user's Scottish.",
        "The user has a dog. She is old.",
        "Der Nutzer lebt in Porto.",
        "The users like tea.",
        "The user like tea.",
    ],
)
def test_what_is_not_sure_is_told_as_it_is_stored(stored):
    assert second_person(stored) == stored


@pytest.mark.parametrize(
    ("fact", "told"),
    [
        ("Walter was Ann Lee's husband.", "Walter was your husband."),
        ("Walter and Ann Lee met at a dance.", "Walter and you met at a dance."),
        ("Walter taught Ann Lee to swim.", "Walter taught you to swim."),
        ("Ann Lee visited Walter.", "You visited Walter."),
        ("Walter was a baker.", "Walter was a baker."),
        ("Ann Leeson knew Walter.", "Ann Leeson knew Walter."),
        ("Ann Lee, his wife, knew Walter.", "Ann Lee, his wife, knew Walter."),
        ("Walter said he owed Ann Lee money.", "Walter said he owed you money."),
    ],
)
def test_a_fact_is_told_to_who_is_named_in_it(fact, told):
    assert told_to("Ann Lee", fact) == told
    assert told_to("", fact) == fact
