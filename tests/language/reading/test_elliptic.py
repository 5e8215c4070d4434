"""Answers without a verb are read by the question that they answer."""

from datetime import UTC, datetime

import pytest

from language.base import ExtractionRequest, Utterance
from language.reading.elliptic import complete_answer
from language.reading.statements import read
from tests.language.offline_talk import conversation

AT = datetime(2026, 11, 20, 18, tzinfo=UTC)


def completed(question, answer):
    text = answer
    for start, end, whole in complete_answer(question, answer, answer, "I"):
        text = f"{answer[:start]}{whole}{answer[end:]}"
    return text


@pytest.mark.parametrize(
    ("question", "answer", "whole"),
    [
        ("When was Otto born?", "The 3rd of May 1920, in Graz.", "Otto was born on the 3rd of May 1920, in Graz."),
        ("And when did he retire, if I may ask?", "You may. In 1984.", "You may. He retired in 1984."),
        ("What did she grow?", "Leeks mostly, and beans.", "She grew leeks mostly, and beans."),
        ("Where do you live now?", "Leeds.", "I live now in Leeds."),
        ("Where is she from?", "Porto.", "She is from Porto."),
        ("Where are you from?", "From Kerry.", "I am from Kerry."),
        ("Where did you move then?", "To Hull, a small house by the docks.", "I moved to Hull."),
        ("How long did you row?", "Nine years.", "I rowed for nine years."),
        ("How old were you when he left?", "Six.", "I was six when he left."),
        ("How many sons do you have?", "Four.", "I have four sons."),
        ("Did you have children?", "One, Edda.", "I had one child, Edda."),
        ("Do you have any pets?", "Two cats.", "I have two cats."),
        ("Had she sisters?", "Two.", "She had two sisters."),
        ("Did Otto have a favourite dish?", "Dumplings with plums.", "Otto's favourite dish was dumplings with plums."),
        ("Did he ever marry?", "Twice.", "He married twice."),
        ("Did she stop working at some point?", "In 1999, the knee.", "She stopped working in 1999."),
        ("What is your sister's name?", "Rose.", "My sister's name is Rose."),
        ("What's your dog called?", "Bello.", "My dog is called Bello."),
        ("Who taught you?", "My aunt.", "My aunt taught me."),
        ("Who is Nils?", "My neighbour.", "Nils is my neighbour."),
        ("Who did you sail with?", "My cousin.", "I sailed with my cousin."),
        ("What are you allergic to?", "Wasps.", "I am allergic to wasps."),
        ("Any hobbies outside of work?", "Sea swimming.", "Hobbies: sea swimming."),
        ("And children?", "Two, by my first marriage.", "I have two children, by my first marriage."),
        ("What would you like to learn?", "Portuguese.", "I would like to learn Portuguese."),
        ("What does he do?", "A baker.", "He is a baker."),
        ("And Nils, what does he do?", "teaches chess at a school.", "Nils teaches chess at a school."),
        ("What was she like?", "Stubborn and kind.", "She was stubborn and kind."),
        ("Where did you two meet?", "At a fair in 1971.", "We met at a fair in 1971."),
        ("Were you married?", "Yes, to Ada, she was a nurse.", "I was married to Ada. she was a nurse."),
        ("Did she pick berries?", "Of course, each July in the woods.", "She picked berries each July in the woods."),
        ("Was she religious?", "Very, Mass every day", "She was very religious"),
        ("Are you married?", "Divorced.", "I am divorced."),
        ("Do you have any hobbies?", "Rowing and chess.", "Hobbies: rowing and chess."),
        ("Any allergies we should know about?", "Wasps and latex.", "Allergies: wasps and latex."),
        ("By profession?", "Midwife.", "I am a midwife."),
        ("And what do you do these days?", "Plumber.", "I am a plumber."),
        ("Where did you grow up?", "A small island near Oban.", "I grew up on a small island near Oban."),
        ("What did he leave you?", "His watch.", "He left me his watch."),
        ("What did she teach you?", "To swim.", "She taught me to swim."),
        ("How did he die?", "A stroke.", "He died of a stroke."),
        ("How did he die?", "Heart failure.", "He died of heart failure."),
        ("Where did she live?", "Same house for sixty years.", "She lived in the same house for sixty years."),
        ("Did he have siblings?", "Two sisters, both dead now", "He had two sisters. both dead now"),
        ("What do you do?", "A physio at a clinic.", "I am a physio at a clinic."),
        ("How often do you see him?", "Once a year.", "I see him once a year."),
        ("Do you do any sport?", "Rowing on Mondays.", "I do rowing on Mondays."),
        ("When did he die?", "9 Dec 2016.", "He died on 9 Dec 2016."),
        ("Did she ever travel?", "Once, to Oslo.", "She traveled once, to Oslo."),
    ],
)
def test_it_is_completed(question, answer, whole):
    assert completed(question, answer) == whole


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you have any pets?", "No, two cats would be too many."),
        ("When was that?", "In 1971."),
        ("Where were you born?", "Maybe Leeds."),
        ("When did he retire?", "He never told."),
        ("Where do you live?", "Wait, the kettle."),
        ("What can I do for you?", "A recipe."),
        ("Shall I remember that?", "Yes please."),
        ("What happened to it?", "A storm."),
        ("Tea or coffee?", "Tea."),
        ("What do you like to do?", "Thanks, bye."),
        ("Did you walk with him?", "Behind him."),
        ("When did she marry?", "My cousin."),
        ("Where do you work?", "Nights."),
        ("That is kind.", "In 1971."),
    ],
)
def test_what_does_not_fit_or_is_a_sentence_stays_as_it_is(question, answer):
    assert completed(question, answer) == answer


def learned(*turns, legacy=None):
    said = [
        Utterance(index, "assistant" if index % 2 == 0 else "user", "", text, AT) for index, text in enumerate(turns)
    ]
    return [(one.content, one.quote) for one in read(ExtractionRequest(said, "Ada", legacy, (), ())).statements]


def test_the_quotation_is_what_was_said():
    assert learned("What did Otto grow?", "Leeks and beans. Always too many.", legacy="Otto Brandt") == [
        ("Otto grew leeks and beans.", "Leeks and beans.")
    ]


def test_a_question_about_a_person_by_a_nickname_is_about_that_person():
    turns = ("Who shall we talk about?", "My uncle Wilhelm, Wim we called him.", "When was Wim born?", "In 1931.")
    assert ("Wilhelm was born in 1931.", "In 1931.") in learned(*turns, legacy="Wilhelm Aarts")


def test_what_somebody_had_is_no_name_of_theirs():
    told = learned("What did Rosa have?", "Rosa had a parrot called Chico who swore in Portuguese.", legacy="Rosa Lima")
    assert [content for content, _ in told] == ["Rosa had a parrot called Chico who swore in Portuguese."]


def test_the_question_alone_says_nothing():
    assert learned("When did you stop stealing?", "What do you mean?") == []


@pytest.mark.parametrize(
    ("asked", "answer", "expected"),
    [
        ("When did she die?", "The sixth of December 2004.", "Rosa died on the sixth of December 2004."),
        ("What couldn't she abide?", "Garlic and noise.", "Rosa could not abide garlic and noise."),
        ("What did she not like?", "Doctors.", "Rosa did not like doctors."),
        ("What was she afraid of?", "Of the telephone.", "Rosa was afraid of the telephone."),
        ("Did she support a team?", "Millwall.", "Rosa supported Millwall."),
    ],
)
def test_denials_indefinites_and_days_are_completed(asked, answer, expected):
    talk = conversation("My grandmother Rosa baked.", f"guide> {asked}", answer, legacy="Rosa")
    assert expected in [one.content for one in read(talk).statements]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Did she leave you any advice?", '"Eat."'),
        ("Where did you meet?", "In Ulm."),
    ],
)
def test_what_does_not_answer_the_question_is_not_completed(asked, answer):
    talk = conversation("My grandmother Rosa baked bread.", f"guide> {asked}", answer)
    assert not [one for one in read(talk).statements if one.index > 1]
