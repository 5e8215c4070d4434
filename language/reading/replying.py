"""What is answered in a talk without a language model: what is remembered, with where it comes from, and no more.

What the person says in passing is asked about before it is remembered; what they ask for, and what puts something
right, is remembered at once and said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

import regex

from language.base import Heard, ReplyRequest, Source
from language.reading.parse import irregular
from language.reading.stems import NUMERALS
from language.reading.words import ENGLISH, KIN, KIN_PLURALS, PETS, listed

NO_MODEL = "No language model is configured here, so I only tell what I remember."
ITSELF = "Ask me about somebody or something that you have told me."
NOTHING_FOUND = "I remember nothing about that yet."
READ = "Thank you, I have read that."
NOT_KEPT = "All right, I keep nothing of that."
FOUND = "This is what I remember:"
NEAREST = "I remember nothing that answers this. The nearest is:"
MOST_TOLD = 4
MOST_TOLD_OF_ALL = 8
"""Where what is asked for is anything at all: "what do you know about me?"."""
QUESTIONS = {
    "preferred_name": "What shall I call you? (“Call me …”)",
    "city": "Where do you live? (“I live in …”)",
    "person": "Who is close to you? (“My sister is called …”)",
    "interests": "What do you like to do? (“I like …”)",
}
"""What the person is asked while nothing is known of it, by field or category, with a form of answer that is read."""
STOCK = (NO_MODEL, ITSELF, NOTHING_FOUND, READ, NOT_KEPT, FOUND, NEAREST, *QUESTIONS.values())
"""What is said alike to everybody, and so gives nothing away of anybody."""


_ENDINGS_OF_SHORT = frozenset({"", "s", "es", "ed", "ing", "y", "ies"})
_ENDINGS = _ENDINGS_OF_SHORT | {"d", "e", "en", "er", "ers", "ied", "n", "r", "st", "t", "te", "ten"}
"""How forms of one word end, in English and German."""


_NO_NAMES = listed(
    "You Your The A An It There Every Each Most On In At Since Until Before After During Last Next This Once Twice"
)
_NAME = regex.compile(
    r"(?<=[\p{L},] )\p{Lu}\p{Ll}{2,}\b|^\p{Lu}\p{Ll}{2,}(?= (?:called|came|said|told|rang|wrote|visited)\b)"
)
_OF_A_PLACE = regex.compile(
    r"\b(?:in|at|near|from|(?:fl[ewy]\w*|went|go(?:ne|ing)?|mov\w+|dr[io]v\w+|travel\w*|been|back|trip|train) to|"
    r"visit\w*|left|leave|leaving) (?-i:\p{Lu}[\p{L}.]*['’]?s? )*$|\bSt\.? $",
    regex.IGNORECASE,
)
_SENTENCE_ENDS = regex.compile(r"[.!?;]\s")
_TELL_WHO = listed("called named name names nicknamed aka friend neighbour neighbor colleague boss")
_OF_ME = regex.compile(r"\b(?:I|(?i:me|my|myself|ich|mich|mir))\b")
_PRONOUN = regex.compile(r"(?<= )(?:she|he|her|him|his)\b", regex.IGNORECASE)
_WORD = regex.compile(r"[\p{L}\p{N}]+")
_ASKS = regex.compile(
    r"\?\s*$|^\W*(?:(?:hi|hello|hey|and|so|well|ok|okay)\b\W+)?(?:"
    r"(?:who|whom|whose)(?:['’]s)?\b|(?:what|when|where|why|how)['’]s\b|(?:what|how) about\b|"
    r"(?:when|where|why)\s+(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should)\b|"
    r"(?:what|which|how)(?:\s+(?!(?:i|you|we|he|she|it|they|my|our|the|an?)\b)\w+){0,2}?"
    r"\s+(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should)\b|"
    r"(?:is|are|am|was|were|does|did|has)\s+(?:i|you|we|he|she|it|they|my|our|there)\b|"
    r"(?:do|have|can|could|would|will)\s+(?:i|you|we|they)\b|(?:please\s+)?(?:tell me|remind me)\b|any idea\b|"
    r"i(?:['’]m| am)? wonder(?:ing)?\b|(?:wer|wen|wem|was|wann|wo|welche[rsnm]?|warum|wie|weißt du)\b)",
    regex.IGNORECASE,
)
_ASKS_OF_ITSELF = regex.compile(
    r"^\W*(?:(?:hi|hello|hey|and|so|well|ok|okay)\b\W+)?(?:(?:who|what) (?:exactly )?are you\b(?! \p{L})|"
    r"are you (?:(?:an?|the|really|even|some|any|kind|sort|of|large) )*(?:language model|llm|model|ai|a\.i\.|assistant|"
    r"bot|chatbot|robot|machine|human|person|real|alive|chatgpt|gpt|claude)\b|wer bist du\b|was bist du\b)",
    regex.IGNORECASE,
)
_GREETS = regex.compile(
    r"^\W*(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening)|hallo|guten (?:morgen|tag|abend))(?: there)?\W*$",
    regex.IGNORECASE,
)
_THANKS = regex.compile(
    r"^\W*(?:(?:ok|okay|great|perfect|cool)\W+)?(?:thanks|thank you|thx|ta|cheers|danke)\b(?!.*\b(?:i|my|we|our)\b)",
    regex.IGNORECASE,
)
_LEAVES = regex.compile(r"^\W*(?:(?:ok|okay)\W+)?(?:bye|goodbye|good night|see you|tschüss)\b", regex.IGNORECASE)
_MANNERS = ((_GREETS, "Hello."), (_THANKS, "You're welcome."), (_LEAVES, "Goodbye."))
_HOW = regex.compile(r"\bhow (?:old|long|many|much|often|far|tall|big|high|heavy)\b", regex.IGNORECASE)
_ASKS_WHAT_WAS_SAID = regex.compile(r"\b(?:tell|told|say|said|mention(?:ed)?|erzählt|gesagt)\b", regex.IGNORECASE)
_WANTS_A_TIME = regex.compile(r"\b(?:when|(?:which|what) (?:year|month|day|date|time))\b", regex.IGNORECASE)
_FIGURE = regex.compile(rf"\d|\b(?:{'|'.join(NUMERALS)})\b", regex.IGNORECASE)
_TIME = regex.compile(
    rf"{_FIGURE.pattern}|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|weekdays?|daily|weekly|monthly|yearly|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter|"
    r"mornings?|noon|afternoons?|evenings?|nights?|midnight|springs?|summers?|autumns?|winters?)\b",
    regex.IGNORECASE,
)
_WHAT_I_DO = regex.compile(
    r"\b(?:do|can|could|will|would) I (?:also |still |usually )?(?P<verb>\p{L}{3,})\b", regex.IGNORECASE
)
_OF_SOMEBODY_ELSE = regex.compile(r"^Your\b|\b(?:who|that|which)\b")
# What a question is made of, and not what it is about.
_OF_QUESTIONS = listed(
    "a about again all am an and any anything are as at be been by can could did do does ever everything for from get "
    "got had has have he her him his how i in is it its know me mine my of on or our please recall remember remembered "
    "remind said say she so some something tell that the their them there these they thing things this those to told "
    "us was we were what when where which who whom whose why will with would you your "
    "d ll m re s t ve idea if please whether wonder wondering "
    "bin das dem den der die dir du ein eine er erzählt gesagt hast hat ich ist mein meine mir sie sind und von wann "
    "warum weißt wem wen wer wie wo über"
)


def is_question(text: str) -> bool:
    """Whether something is asked, with a question mark or without: such words say nothing that could be told later."""
    return _ASKS.search(text.strip()) is not None


def reply(request: ReplyRequest) -> tuple[list[str], bool]:
    """The pieces of the answer, and whether it asks if something may be remembered."""
    parts = [f"{NO_MODEL} "] if request.is_first else []
    heard, asks = request.heard, False
    if heard.refused:
        return [*parts, NOT_KEPT], False
    keeps = _kept(heard)
    if is_question(request.question) and not keeps:
        parts += _found(request)
        parts += ["\n\n"] if heard.new else []
    if keeps:
        parts.append(" ".join(keeps))
    elif heard.new:
        parts.append(f"Shall I remember {_that(heard.new)}?")
        asks = True
    elif not parts or parts == [f"{NO_MODEL} "]:
        parts.append(_acknowledged(request))
    return parts, asks


def _acknowledged(request: ReplyRequest) -> str:
    """What is said where nothing is asked and nothing new is told: manners, or a question about what is unknown."""
    manners = next((answer for says, answer in _MANNERS if says.search(request.question)), "")
    if manners and not _GREETS.search(request.question):
        return manners
    return " ".join(filter(None, [manners, _asked_about(request) or _asked_of_themselves(request)])) or READ


def _asked_of_themselves(request: ReplyRequest) -> str:
    """A question about the person that this talk has not heard yet; none right after another question."""
    said = [str(each.get("content")) for each in request.messages if each.get("role") == "assistant"]
    if said and "?" in said[-1]:
        return ""
    open_ones = (QUESTIONS[name] for name in request.unknown if name in QUESTIONS)
    return next((question for question in open_ones if not any(question in each for each in said)), "")


def _kept(heard: Heard) -> list[str]:
    """What is remembered without asking: what was asked for, agreed to or put right, and what was said with it."""
    kept = [f"Updated: {now} Until now I had: {before}" for before, now in heard.changed]
    if noted := (*heard.noted, *(heard.new if heard.noted or heard.changed else ())):
        kept.append(f"I will remember {_that(noted)}.")
    elif heard.agreed and not kept:
        kept.append(READ)
    if heard.told and (kept or not heard.new):
        kept.append(f"Noted: {' '.join(heard.told)}")
    return kept


def _that(statements: Sequence[str]) -> str:
    """Statements as the rest of a sentence: "that you live in Porto and that Alec is your boss"."""
    return " and ".join(f"that {_in_a_sentence(each)}" for each in statements)


def _in_a_sentence(statement: str) -> str:
    words = statement.rstrip(".").split(" ", 1)
    return " ".join([words[0].lower() if words[0] in _NO_NAMES else words[0], *words[1:]])


def _asked_about(request: ReplyRequest) -> str:
    """One question about somebody who is named and of whom nothing is known; empty where there is nobody."""
    known = {word for source in request.found for word in _spelt(source.text)}
    said = request.question
    names = (
        name[0]
        for name in _NAME.finditer(said)
        if not (_OF_A_PLACE.search(said, endpos=name.start()) or _is_told(said, name.start()))
    )
    new = next((name for name in names if name.casefold() not in known and name.lower() not in ENGLISH), "")
    return f"Who is {new}?" if new else ""


def _is_told(said: str, at: int) -> bool:
    """Whether the sentence says before a name who or what bears it: "my sister Ana", "a pigeon called Duchess"."""
    before = _spelt(_SENTENCE_ENDS.split(said[:at])[-1])
    return any(word in _TELL_WHO or word in KIN or word in KIN_PLURALS or word in PETS for word in before)


def _found(request: ReplyRequest) -> list[str]:
    if _ASKS_OF_ITSELF.search(request.question):
        return [ITSELF if request.is_first else f"{NO_MODEL} {ITSELF}"]
    fitting, answers = _fitting(_with_name(request.question, request.heard.about), request.found)
    if not fitting:
        return [NOTHING_FOUND]
    return [FOUND if answers else NEAREST, *(f"\n- {source.text} ({source.origin})" for source in fitting)]


def _with_name(question: str, name: str) -> str:
    """A question with the name of whom the talk is about where only a pronoun stands for them."""
    given = name.split(maxsplit=1)[0] if name else ""
    return question if not given or _NAME.search(question) else _PRONOUN.sub(given, question)


def asks_of_me(question: str) -> bool:
    """Whether a question is about the person and names nothing else: "what do you know about me?"."""
    return is_question(question) and not _wanted(question) and _OF_ME.search(question) is not None


def _wanted(question: str) -> dict[str, None]:
    """What a question is about: its words but those that make it one."""
    spelt = _spelt(_HOW.sub(" ", question))
    return dict.fromkeys(irregular(word) for word in spelt if word not in _OF_QUESTIONS)


def _fitting(question: str, found: Sequence[Source]) -> tuple[list[Source], bool]:
    """Those that have most words in common with the question, and whether they answer it as far as words can tell.

    All where it names nothing: "what do you know of me?". Whoever is named in it is named in the answer. One that ranks
    first may have fewer of its words than others.
    """
    wanted = _wanted(question)
    if not wanted:
        of_them = [source for source in found if not (source.of_legacy and _OF_ME.search(question))]
        return _remembered(question, of_them)[:MOST_TOLD_OF_ALL], True
    named = {name[0].casefold() for name in _NAME.finditer(question)} & set(wanted)
    done_by_me = _WHAT_I_DO.search(question)
    mine = done_by_me["verb"].casefold() if done_by_me else ""
    shared = [(source, _shared(wanted, source, mine)) for source in found]
    shared = [(source, words) for source, words in shared if words and (words & named or not named)]
    most = max((len(words) for _, words in shared), default=0)
    fitting = [source for place, (source, words) in enumerate(shared) if len(words) == most or not place]
    sources = _remembered(question, fitting)
    answers = any(words - named for source, words in shared if source in sources) or not set(wanted) - named
    sources = sources[:MOST_TOLD]
    told = _TIME if _WANTS_A_TIME.search(question) else _FIGURE if _HOW.search(question) else None
    if told:
        sources.sort(key=lambda source: not told.search(source.text))
        answers = answers and any(told.search(source.text) for source in sources)
    return sources, answers


def _remembered(question: str, found: Sequence[Source]) -> list[Source]:
    """Without what was only said once, unless that is asked for or all there is: what is remembered is up to date."""
    kept = [source for source in found if not source.quoted]
    return list(found) if not kept or _ASKS_WHAT_WAS_SAID.search(question) else kept


def _shared(wanted: Iterable[str], source: Source, mine: str) -> set[str]:
    """The words of a question that a source has. What the person does, ``mine``, is not what others are said to do."""
    others = _words(source.text)
    if mine and _OF_SOMEBODY_ELSE.search(source.text):
        theirs = {f"{mine}s", f"{mine}es", f"{mine.removesuffix('y')}ies"}
        others = [each for each in others if each not in theirs]
    return {word for word in wanted if any(_is_one(word, other) for other in others)}


def _spelt(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _words(text: str) -> list[str]:
    return list(map(irregular, _spelt(text)))


def _is_one(word: str, other: str) -> bool:
    """Whether two words are forms of one, as far as their endings tell: "keys" and "key", "worked" and "working"."""
    stem = "".join(one for one, _ in takewhile(lambda both: both[0] == both[1], zip(word, other, strict=False)))
    if len(stem) < 3:
        return word == other
    endings = _ENDINGS if len(stem) > 3 else _ENDINGS_OF_SHORT
    rests = (each.removeprefix(stem) for each in (word, other))
    return all(rest in endings or rest.removeprefix(stem[-1]) in endings for rest in rests)
