"""What the question whether something may be kept is answered by, where the words alone mislead."""

import pytest

from language.backends import embedder_replaced
from language.embedders.e5.embedder import BundledEmbedder
from language.reading.refusals import Turn, find_refusal, may_refuse, names_what_was_said, says_yes
from language.reading.refusals.meaning import _RefusalResolver
from language.reading.refusals.questions import lets_keep
from language.reading.replying import NO_MODEL
from tests.timing import allowed, processor_seconds

TOLD = "My sister has left the church."
ASKED = "Shall I remember that?"


def refuses(answer, question=ASKED):
    return find_refusal([Turn("user", TOLD), Turn("assistant", question), Turn("user", answer)], 2) is not None


@pytest.mark.parametrize(
    "answer",
    [
        "That's hers to tell.",
        "She told me in confidence.",
        "I gave her my word.",
        "I swore to her never to tell.",
        "This goes no further.",
        "that's between me and my doctor",
        "That was confidential.",
        "I've kept that to myself for years.",
        "I'd rather not, the neighbours talk enough.",
        "Lieber nicht.",
        "Bitte nicht, das wäre mir peinlich.",
        "Mejor no.",
        "Nee, laat maar.",
    ],
)
def test_secrets_and_a_clear_no_beside_a_reason_refuse(answer):
    assert may_refuse(answer)
    assert refuses(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "If you'd be so kind.",
        "With pleasure.",
        "lol obviously",
        "yh",
        "No need to ask, note it.",
        "No problem at all, keep it.",
        "I don't want to say it twice, so yes",
        "can't see why not",
        "You'd better, because I shan't.",
        "No speeches. Yes, hold on to that so that you don't suggest one.",
        "It's no secret, you may.",
        "Not on Sundays. Get that right and you can keep it.",
        "No church, no choir, no coffee afterwards. Write it all down.",
    ],
)
def test_a_yes_in_the_words_of_a_no_keeps(answer):
    assert not refuses(answer)


@pytest.mark.parametrize(
    ("answer", "is_no"),
    [
        ("No, he was a dyer. His hands were blue till he died.", False),
        ("nope, a tanner", False),
        ("No, thank you.", True),
        ("No, that's private.", True),
        ("No. Don't write that down.", True),
    ],
)
def test_of_two_questions_a_no_that_goes_on_answers_the_first(answer, is_no):
    assert refuses(answer, "As a weaver? Shall I remember that?") == is_no


def test_what_somebody_else_says_refuses_nothing():
    """Reproduction: "my boss always says please don't write that down" withheld the message before."""
    said = "My boss always says please don't write that down."
    turns = [Turn("user", "I bought a blue tandem."), Turn("assistant", "Okay."), Turn("user", said)]
    assert find_refusal(turns, 2) is None


def test_an_order_to_keep_one_thing_takes_no_refusal_of_another_back():
    said = "Don't write down the thing about my sister, but my own birthday, note it."
    assert find_refusal([Turn("user", TOLD), Turn("assistant", "I see."), Turn("user", said)], 2) is not None


@pytest.mark.parametrize("question", ["Would you object to my keeping that?", "Do you mind if I remember that?"])
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("No.", False),
        ("I wouldn't, no.", False),
        ("Not at all.", False),
        ("Yes, I would.", True),
        ("I do mind.", True),
        ("Please don't.", True),
    ],
)
def test_who_is_asked_for_objections_allows_it_by_a_no(question, answer, expected):
    assert refuses(answer, question) == expected


def test_a_no_to_what_was_asked_first_is_none():
    assert not refuses("No, she was the bookkeeper there.", "Was she a miller, shall I write that down?")


@pytest.mark.parametrize("answer", ["nein, er war Bäcker", "No, she sings in the choir still.", "Not on Sundays."])
def test_a_no_about_the_matter_is_none(answer):
    assert not refuses(answer, "Does she still go there?")
    assert not says_yes(answer)


AFFAIR = "My sister Roswitha had an affair with the priest."
OFFER = "Shall I remember that your sister Roswitha had an affair with the priest?"


def withheld_by(answer, *between):
    turns = [Turn("user", AFFAIR), *(Turn("assistant", each) for each in between), Turn("user", answer)]
    refusal = find_refusal(turns, len(turns) - 1)
    return may_refuse(answer) and refusal is not None and (0, AFFAIR) in refusal.passages


@pytest.mark.parametrize("between", [(), (OFFER,)], ids=["at once", "asked"])
@pytest.mark.parametrize(
    "answer",
    [
        "Please forget that I told you about Roswitha's affair.",
        "Forget that I mentioned the affair.",
        "Forget that I mentioned that my sister had an affair.",
        "Forget that I ever said anything about Roswitha.",
        "Don't remember that I mentioned her affair.",
        "Forget I ever mentioned the affair.",
        "forget what I said about the affair",
    ],
)
def test_telling_is_not_what_is_named(answer, between):
    assert withheld_by(answer, *between)


@pytest.mark.parametrize(
    ("answer", "declines"),
    [
        ("Forget that my brother drinks.", False),
        ("No, and what is the weather like in Graz?", True),
        ("No. My dog is called Rex.", True),
        ("Nein, und wie wird das Wetter?", True),
        ("Yes, and forget that my brother drinks.", False),
        ("No. My sister never told anyone.", False),
    ],
)
def test_what_was_just_asked_about_is_declined_by_a_no_and_not_by_what_names_something_else(answer, declines):
    assert withheld_by(answer, OFFER) == declines


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("Forget that I told you about Korbinian.", True),
        ("Don't write down what I said about the rent.", True),
        ("Please don't write down that I stole a bike.", False),
        ("I once stole a bike, forget that.", False),
    ],
)
def test_who_names_what_was_said_before_wants_it_found(said, names):
    assert names_what_was_said(said) == names


@pytest.mark.parametrize("answer", ["Annelies is a nurse.", "Lise likes drawing.", "My sister lives in Rome."])
def test_that_no_model_is_configured_makes_no_answer_a_no(answer):
    """Reproduction: after the first answer of a talk, which says so, each of these was withheld as a refusal."""
    asked = "Shall I remember that Pieter is a crane operator at the port?"
    assert not refuses(answer, f"{NO_MODEL} {asked}")
    assert refuses("no thanks", f"{NO_MODEL} {asked}")


def withholds(said, asked="I see.", told=TOLD):
    """Whether a person's answer refuses what they told before the assistant spoke."""
    turns = [Turn("user", told), Turn("assistant", asked), Turn("user", said)]
    refusal = find_refusal(turns, 2)
    return may_refuse(said) and refusal is not None and bool(refusal.passages or refusal.named_lemmas)


@pytest.mark.parametrize(
    "said",
    [
        "I don't want this popping up again next time, please.",
        "Hush. Don't hang on to that.",
        "And no noting it down, right?",
        "What I say here stays here.",
        "You've heard nothing.",
        "You've heard nothing of this.",
        "You never heard that from me.",
        "I don't want that brought up again.",
        "Can you strike that from whatever you have saved about me?",
        "Please take out the bit about the church.",
        "It would help if you just pretended I never mentioned it.",
    ],
)
def test_a_wish_for_silence_needs_no_question_before_it(said):
    assert withholds(said)


@pytest.mark.parametrize(
    "said",
    [
        "I don't want this popping up while I type.",
        "I want this cat to stay here.",
        "What's cooked here stays here till Sunday.",
        "It would help if you took the bins out.",
        "I had shingles in May. I don't want that coming back again.",
        "My band is called Kino. You never heard of it, I guess.",
    ],
)
def test_who_speaks_of_other_things_wishes_for_none(said):
    assert not withholds(said)


@pytest.mark.parametrize("said", [
    "What I told you about my sister, could you scratch that?",
    "Remember what I said about my sister? Please unremember it.",
])  # fmt: skip
def test_what_was_told_is_named_before_the_request(said):
    refusal = find_refusal([Turn("user", said)], 0)
    assert refusal is not None
    assert refusal.named_lemmas == {"sister"}


def test_what_was_told_of_something_else_is_not_what_a_request_means():
    refusal = find_refusal([Turn("user", "What I told you about my knees was wrong. I owe Karl. Don't keep that.")], 0)
    assert refusal is not None
    assert refusal.passages == ((0, "I owe Karl."),)


@pytest.mark.parametrize(("question", "answer", "declines"), [
    # A rule, a joke, and what is of no use.
    ("Will you always want two columns?", "It varies, so don't turn that into a rule.", True),
    ("Shall I remember pink?", "Haha no, that was just a joke.", True),
    ("Shall I remember that you bluff?", "It was just a joke, but remember it.", False),
    ("Shall I note the gate code's street?", "There's another one in May, so no point.", True),
    ("May I keep the dates?", "we're moving soon so don't bother", True),
    ("May I keep the dates?", "Don't bother asking, keep them.", False),
    ("May I keep the dates?", "Rather not till they are fixed.", True),
    ("May I keep the dates?", "What for?", True),
    ("Shall I remember the house?", "Yes, but I do not make the rules.", False),
    ("Shall I remember black tea?", "Rather not as a habit.", True),
    ("Are you an engineer? Shall I remember that?", "No, just a test engineer.", False),
    ("Shall I remember pink?", "No, only joking and bored.", True),
    # A no that allows it.
    ("Should I delete this after the trip?", "No, please don't.", False),
    ("Shall I leave that out?", "Nope, it has to be in.", False),
    ("Is it something too personal for me to keep?", "Nah, the whole village knows.", False),
    ("May I keep that? Or is it private?", "Private? No, it's in the paper.", False),
    ("May I keep that? Or is it private?", "No, don't.", True),
    ("Shall I remember that, or would you rather I forgot it?", "No thanks.", True),
    ("Is that a secret?", "Not in the least, save it wherever you like.", False),
    ("Ça te dérange si je le retiens ?", "Non, pas du tout.", False),
    ("Dois-je m'en souvenir ?", "Non merci.", True),
    ("Hast du etwas dagegen, dass ich mir das merke?", "Nein.", False),
    ("Shall I keep it as a phase?", "No, that's for life, so keep it as such.", False),
    ("Shall I keep this for the patterns?", "You can't not keep it.", False),
])  # fmt: skip
def test_whether_a_no_declines_depends_on_what_was_asked(question, answer, declines):
    assert refuses(answer, question) is declines


@pytest.mark.parametrize(("told", "answer", "said", "is_meant"), [
    ("What goes into the dough?", "Flour, water, yeast and sugar.", "Forget the sugar! I'm out of it.", False),
    ("Write it in Rust.", "Noted. Should I add some Perl?", "Forget Perl.", False),
    ("My sugar is too high.", "Sugar matters.", "Forget the sugar thing.", True),
    ("Hello.", "You told me that you like Perl.", "Forget Perl.", True),
    ("What do you know?", "I love climbing and hate coriander", "Forget that I hate coriander.", True),
    ("What do you know?", "I have this: “Writes Perl, hates Rust”", "Forget Perl.", True),
    ("Ideas for the party?", "As Lena has epilepsy, avoid flashing lights.", "Forget the epilepsy thing.", True),
    ("Ideas for the party?", "As her sister has epilepsy, avoid flashing lights.", "Forget the epilepsy thing.", True),
])  # fmt: skip
def test_what_only_the_assistant_spoke_of_is_no_secret_of_the_person(told, answer, said, is_meant):
    assert withholds(said, answer, told) is is_meant


@pytest.mark.parametrize("offer", ["Can I help with anything else?", "Shall I look up epilepsy clinics?"])
@pytest.mark.parametrize(
    ("said", "is_meant"),
    [
        ("Forget everything about Ana.", True),
        ("Please forget the epilepsy.", True),
        ("Forget about my sister.", True),
        ("Remove everything about Ana.", True),
        ("No. Forget about Ana.", True),
        ("Forget that, please.", True),
        ("No, forget it.", False),
        ("No, forget that.", False),
        ("Leave that, she has heard.", False),
    ],
)
def test_after_an_offer_only_a_bare_no_is_of_the_offer(offer, said, is_meant):
    with embedder_replaced(BundledEmbedder()):
        assert withholds(said, offer, "My sister Ana has epilepsy.") is is_meant


@pytest.mark.parametrize(
    "said",
    [
        "My dad left when I was six. We never talked about it.",
        "My uncle Karl was in prison. We never discussed it, even at Christmas.",
        "I planned to meet Ana at noon. Our conversation never took place.",
        "I booked a room for the talk. That talk never took place.",
        "It's just between us and the goalkeeper.",
        "It's between us and Porto who wins the cup.",
        "The flat is mine. It's between you, me and the landlord.",
    ],
)
def test_what_never_happened_or_lies_between_people_is_no_refusal(said):
    assert not withholds(said)


@pytest.mark.parametrize(
    "said",
    [
        "This conversation never happened.",
        "We never had this chat.",
        "Between you, me and the gatepost.",
        "That's between you, me and these four walls.",
        "That's between us and please don't write it down.",
    ],
)
def test_a_talk_that_never_happened_or_stays_between_two_is_one(said):
    assert withholds(said)


@pytest.mark.parametrize(
    ("question", "answer", "allows"),
    [
        ("Shall I remember that, or is the pregnancy private?", "Not the pregnancy.", False),
        ("Shall I remember that, or is Ana's pregnancy not public?", "Ana's pregnancy isn't.", False),
        ("Shall I remember that, or is it not public?", "It isn't public.", False),
        ("Shall I note both, or is the pregnancy a secret?", "Don't note the pregnancy.", False),
        ("Shall I note both, or is it a note about the baby?", "Don't note the baby.", False),
        ("Can I remember that, or does Ana not want it?", "Ana does not want it.", False),
        ("Shall I remember that, or is it a whim of Ana's?", "Not Ana.", False),
        ("Shall I note it, or was it said in passing?", "It was not said in passing.", True),
        ("Shall I note it, or was that a joke?", "No joke.", True),
    ],
)
def test_only_who_denies_what_speaks_against_it_allows_it(question, answer, allows):
    assert lets_keep(question, answer) is allows


@pytest.mark.parametrize(
    ("answer", "declines"),
    [
        ("I'll pass.", True),
        ("I'll pass, thanks.", True),
        ("I'll pass on that.", True),
        ("Ill pass the exam in May.", False),
        ("I'll pass the salt, then.", False),
    ],
)
def test_who_passes_something_passes_on_nothing(answer, declines):
    assert refuses(answer) is declines


@pytest.mark.parametrize("question", ["Would you like that in his story?", "Do you want it in the book?", ASKED])
@pytest.mark.parametrize(
    ("answer", "declines"),
    [
        ("No, my aunts would never forgive me.", True),
        ("No, the neighbours talk.", True),
        ("No, but by all means note it.", False),
        ("No worries.", False),
    ],
)
def test_a_no_with_a_reason_of_others_is_never_consent(question, answer, declines):
    with embedder_replaced(BundledEmbedder()):
        assert refuses(answer, question) is declines


def test_a_no_that_goes_on_lets_a_request_be_heard_beside_it():
    """Reproduction: the network took the no for consent, and what it learned as requests was not looked for."""
    turns = [Turn("user", TOLD), Turn("assistant", ASKED), Turn("user", "No, he was a dyer.")]
    with embedder_replaced(BundledEmbedder()):
        assert not _RefusalResolver(turns, 2).is_agreed()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (ASKED, "thanks " * 4_570),
        ("Shall I remember that, " + "or is " * 5_300 + "it?", "It's no whim."),
        ("Shall I remember that, " + "or is it " * 3_500 + "?", "It's no whim."),
    ],
)
def test_long_answers_and_questions_take_no_long_time(question, answer):
    refuses("The pope knows.", ASKED)  # Loads the parser and the network.
    assert processor_seconds(lambda: refuses(answer, question)) < allowed(1)
