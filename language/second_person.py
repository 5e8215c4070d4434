"""Rewrites third person statements about the user in the second person: "The user prefers tea." → "You prefer tea."

Only English statements are rewritten: by their words where these are enough, else by their grammar, which takes a
parse. Ambiguous ones stay unchanged: with pronouns that may refer to the user or somebody else (except "his" and "her"
after the user's sister or dog, or where nobody else is named before them), with "the user" in a compound or described,
or with a verb that may have another subject.
"""

from __future__ import annotations

import re

from language.reading.lexicon import is_kind_of
from language.reading.words import KIN
from language.told_by_grammar import you_by_grammar


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_IRREGULAR = {
    "is": "are", "isn't": "aren't", "was": "were", "wasn't": "weren't", "has": "have", "hasn't": "haven't",
    "does": "do", "doesn't": "don't", "goes": "go", "focuses": "focus", "aches": "ache",
}  # fmt: skip
_AS_IT_IS = _words(
    "will won't would wouldn't can can't cannot could couldn't may might must mustn't should shouldn't had hadn't did "
    "didn't became began bought broke brought built came caught chose cut drank drove fell felt found gave got grew "
    "kept knew learnt led left lost made met moved paid put quit ran read said sang saw sent set slept sold spent "
    "spoke stood swam bit dug drew fed forgot fought hid hung lent rode rose sank shook shot stole struck swore threw "
    "tore wept woke taught thought told took went won wore wrote ate flew heard held hurt understood"
)
_ADVERBS = _words(
    "also always often usually never still currently now really generally rarely sometimes just only recently "
    "previously mostly mainly already once even occasionally regularly strongly particularly especially no longer "
    "typically frequently very much both probably"
)
# Nouns in compounds with "user": "the user settings".
_NOUNS = _words("settings accounts stories names profiles preferences groups roles reviews interfaces guides ids")
_VERBS = _words(
    "attend avoid bake believe belong bring build buy call care carry coach collect come commute cook design develop "
    "dislike draw drink drive eat enjoy expect feel find fly follow get give grow handle hate have hold hope keep know "
    "lead lean learn leave like listen live look love maintain make manage mean meet miss move need organize own "
    "paint pay plan play practice prefer read remember rent ride run say see sell sing sleep speak spend start stay "
    "struggle study suffer swim take talk teach tell tend think travel try understand use visit volunteer wake walk "
    "want watch wear wish work worry write"
)
_PRONOUNS = re.compile(
    r"\b(?:he|him|his|himself|she|her|hers|herself|they|them|their|theirs|themsel(?:f|ves)|they're)\b", re.I
)
_USER = re.compile(r"\bthe user\b", re.I)
_OF_THEM = re.compile(
    r"\b(?:his|her) (?!(?:a|an|the|and|or|to|at|in|on|for|with|from|by|about|that|when|if)\b)(?=[a-z])"
)
# Of a sentence that begins with the user's brother, it is about him: "The user's brother said that he was tired."
_IN_ITS_CLAUSE = re.compile(r"\b(that|because|since|while|where|whether) (?:he|she|they)\b")
_NAME = re.compile(r"(?<!\bin )\b[A-Z]\w+")
_TIME = re.compile(
    r"(?:Every|Each|Most|On|In|At|Since|Until|Before|After|During|Last|Next|This|Once|Twice|These|Two|Three)\b"
    r"[^,.;:?!]{0,60}?,? (?=the user(?:'s|’s)? )"
)
_THEIRS = re.compile(r"\bthe user(?:'|’)s( (?!(?:a|an|the|been|not|now|going|getting|always|never|also|allergic)\b))")
_IN_A_CLAUSE = re.compile(
    r"\b(that|when|while|because|if|since|although|until|before|after|where) the user "
    r"(is|isn't|was|wasn't|has|hasn't|had|will|can|can't|could|would|should)\b"
)
_OBJECT = re.compile(
    rf"\b(and|with|to|for|of|at|by|from|about|beside|than|(?:used|likes|liked|loves|loved|wants|wanted) to \w+|"
    rf"\w+(?:ed|ing|[^s\W]s)|{'|'.join(sorted(_AS_IT_IS))}) "
    r"the user\b"
    r"(?!(?:'|’)s| (?:is|was|has|\w+s)\b)"
)
_AFFECTED = re.compile(
    r"\b((?:make|keep|give|help|scare|calm|hurt|bother|annoy|worry|cost|drive|wake|remind|let|leave)s?|made|kept|gave) "
    r"the user\b(?!(?:'|’)s)"
)
"""A thing that does something to the user: "Nuts make the user ill."."""
_SENTENCES = re.compile(r"(?<=[.!?;])(?<!\bSt\.)(?<!\bDr\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)\s+")
_OWN = re.compile(r"The user(?:'|’)s (?!(?:a|an|the|been|not|now|going|getting|always|never|also|allergic)\b)")
# "The user's neighbour Paul owes money" has no "is", whatever the verb.
_NAMED = re.compile(r"[a-z]+ [A-Z]\w+ [a-z]+s\b")
_FINITE = re.compile(r"\b(?:is|are|was|were|has|have|had|will|can|could|would|does|do|did|may|might|isn't|aren't)\b")
# After a name or a noun: "The user's daughter Mia turned 6.", but not "The user's very tired."
_PAST = re.compile(r"^(?:(?!(?:very|so|too|quite|just|rather|really|still|also)\b)[\w-]+ )+[a-z]{2,}ed\b")
_TO_YOU = re.compile(r"\b[a-z]+(?:s|ed) you\b")
_COORDINATED = re.compile(r"(?:,|\b(?:and|or|but|then|yet)\b)\s+(?:(?:and|or|but|then|also|often|now|still)\s+)*", re.I)
_RELATIVE = re.compile(
    r"\b(?:that|who|whom|which|whose|because|when|while|if|since|where|as|so|though|although)\b", re.I
)
_VERB_GOES_ON = re.compile(
    r"\s+(?:a|an|the|your|at|in|on|as|for|to|with|from|by|near|every|each|it|not|that|about|daily|well|\d+)\b"
)
_WORD = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?")


def second_person(text: str) -> str:
    """Return the statement in the second person; unchanged if it is ambiguous."""
    told = _by_words(text)
    if not _USER.search(told):
        return told
    of_others = _OF_THEM.sub("", _IN_ITS_CLAUSE.sub(r"\1", text)) if text.startswith("The user's") else text
    return told if _PRONOUNS.search(of_others) else you_by_grammar(text, _of_you) or told


def _by_words(text: str) -> str:
    to_you = _OBJECT.sub(r"\1 you", text) if text.startswith("The user's") else text
    told = [_sentence(each) for each in _SENTENCES.split(to_you)]
    if not (text.startswith("The user") or _TIME.match(text)):
        yours = _THEIRS.sub(r"your\1", _OBJECT.sub(r"\1 you", _AFFECTED.sub(r"\1 you", text)))
        return text if _is_unclear(yours) else yours
    if None in told:
        return text
    return _rejoined(to_you, [each for each in told if each is not None])


def told_to(name: str, text: str) -> str:
    """Return a statement with the person's ``name`` replaced by "you": "Walter was Maria's husband."

    Unchanged if it is ambiguous.
    """
    stored = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "the user", text) if name else text
    told = _OBJECT.sub(r"\1 you", second_person(re.sub("^the user", "The user", stored)))
    return text if _USER.search(told) else told


def _is_unclear(text: str) -> bool:
    return (_PRONOUNS.search(text) or _USER.search(text)) is not None


def _rejoined(text: str, sentences: list[str]) -> str:
    gaps = [found[0] for found in _SENTENCES.finditer(text)]
    return "".join(part for pair in zip(sentences, [*gaps, ""], strict=True) for part in pair)


def _sentence(text: str) -> str | None:
    """Rewrite one sentence; None if it is ambiguous."""
    if own := _OWN.match(text):
        rest = _clauses(_THEIRS.sub(r"your\1", text[own.end() :]))
        verbs = (word in _AS_IT_IS or _base(word) in _VERBS for word in _WORD.findall(rest)[1:])
        known = _NAMED.match(rest) or _FINITE.search(rest) or _PAST.search(rest) or _TO_YOU.search(rest) or any(verbs)
        of_others = _OF_THEM.sub("", _IN_ITS_CLAUSE.sub(r"\1", rest))
        return f"Your {rest}" if known and not _is_unclear(of_others) else None
    if time := _TIME.match(text):
        told = _sentence(f"The{text[time.end() :].removeprefix('the')}")
        return told and f"{time[0]}y{told[1:]}"
    if not text.startswith("The user "):
        return None
    rest = _clauses(_with_own(_THEIRS.sub(r"your\1", text.removeprefix("The user "))))
    verb = next((word for word in _WORD.finditer(rest) if word[0].lower() not in _ADVERBS), None)
    if verb is None or _is_unclear(rest) or verb[0] in _NOUNS or rest[: verb.start()].strip(" " + _LETTERS):
        return None
    told = _of_you(verb[0])
    tail = _coordinated(rest[verb.end() :]) if told else None
    return None if tail is None else f"You {rest[: verb.start()]}{told}{tail}"


def _clauses(rest: str) -> str:
    """The text with "you" for the user as the subject of a clause: "when the user was six"."""
    return _IN_A_CLAUSE.sub(lambda found: f"{found[1]} you {_of_you(found[2])}", rest)


def _with_own(rest: str) -> str:
    """The text after "The user" with "your" for "his" or "her", if it names nobody else before them."""
    found = list(_OF_THEM.finditer(rest))
    if len({each[0] for each in found}) != 1 or _names_somebody(rest[: found[-1].start()]):
        return rest
    return _OF_THEM.sub("your ", rest)


def _names_somebody(text: str) -> bool:
    """Whether a text has a name, except of a place after "in", or a word for one person or animal."""
    return _NAME.search(text) is not None or any(
        word in KIN or is_kind_of(word, "person") or is_kind_of(word, "animal") for word in text.lower().split()
    )


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _coordinated(tail: str) -> str | None:
    """Rewrite coordinated verbs after the first one; None if it is ambiguous which words are verbs of the user."""
    done, at = "", 0
    for place in _COORDINATED.finditer(tail):
        word = _WORD.match(tail, place.end())
        if word is None or word.start() < at:
            continue
        written = word[0].replace("’", "'")
        if (
            not (written in _IRREGULAR or (written.endswith("s") and not written.endswith("ss")))
            or written[0].isupper()
        ):
            continue
        before = _WORD.findall(tail[: place.start()])
        is_verb = written in _IRREGULAR or (
            _base(written) in _VERBS
            and _VERB_GOES_ON.match(tail, word.end()) is not None
            and not (before and before[-1].endswith("s") and before[-1][0].islower())
        )
        if not is_verb or _RELATIVE.search(tail[: place.start()]):
            return None
        done += tail[at : word.start()] + (_of_you(word[0]) or "")
        at = word.end()
    return done + tail[at:]


def _of_you(verb: str) -> str | None:
    """Return the second person form of a third person verb; None for other words."""
    verb = verb.replace("’", "'")
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb in _AS_IT_IS or verb.endswith("ed"):
        return verb
    return _base(verb) if verb.endswith("s") and not verb.endswith("ss") and verb.islower() and len(verb) > 3 else None


def _base(verb: str) -> str:
    """Return the base form of a regular third person verb."""
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return verb[:-2]
    return verb.removesuffix("s")
