"""Which clauses of a sentence state something: no questions, no doubts, nothing imagined, nothing other people said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from language.offline.clauses import split_clauses
from language.offline.lexicon import verbs
from language.offline.lexicon.words import AUXILIARIES, ENGLISH, SUBJECT_PRONOUNS, listed
from language.offline.tokens import Token

_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|presumably|might|may (?:have|be|not|well)|must have|"
    r"i (?:do not |really |just |kind of |still |also )?(?:think|guess|suppose|believe|assume|imagine|suspect|"
    r"doubt|feel like|bet|"
    r"reckon|figure|gather)(?! (?:about|of)\b)|not (?:too |so |entirely |really |completely |quite |"
    r"100 % )?(?:sure|certain)|unsure|"
    r"(?:i|we) wonder|wonder (?:if|whether|what|how)|whether|wish|wished|if|unless|as though|"
    r"(?:would|could|should|might) (?:not )?(?:never |always |probably |also )?have|had better|supposedly|"
    r"allegedly|apparently|"
    r"rumou?rs?|legend has it|i(?: have)? hear[d]?(?: that)?|seem(?:s|ed)?|(?:can|do|did|could) not (?:really |"
    r"quite |even )?(?:remember|recall|know)|"
    r"forget (?:if|whether|when|where|what)|imagine|pretend(?:ing)?|suppose|hypothetically|let us say|"
    r"kidding|joking|lied|lying|as far as i know|to my knowledge|i could be wrong|may be wrong|hopefully|in case|"
    r"in theory|or something|or so|something like that|in my dream|dreamed|dreamt|according to|yeah right|allegedly|"
    r"for instance|e\.g|say ,|in the (?:book|movie|film|novel|story|game|show|play)|the character|no idea|"
    r"would rather not|"
    r"should|ought to|supposed to|is it)\b|/s\b"
)
_REPORT = re.compile(
    r"^(?:or |and |so |as |at least )*(?!i )(?:my \w+(?: \w+)?|he|she|they|people|everyone|everybody|legend|"
    r"someone|[\w'’]+) "
    r"(?:(?:always|just|once) )?(?:says?|said|tells?|told (?:me|us)|claims?|claimed|reckons?|thinks?|thought|"
    r"insists?|swears?|mentioned)\b"
)
_TAG = re.compile(
    r"^(?:,? ?(?:right|huh|no|yeah|yes|correct|eh|ok|okay|true|is that right|am i right|remember|you know)|"
    r"(?:did|do|does|is|was|were|are|had|has|have|would|could|can|will) (?:not )?(?:he|she|it|they|i|we|"
    r"you) ?(?:not )?) ?\?+"
)
_QUOTE = re.compile(r"[\"“”«»„‟`]|(?:^|\s)['‘](?!(?:cause|til|em|bout|n)\b)\w|[‘]")
_ADDRESS = re.compile(r"https?:|www\.|\S@\S+\.\S|\.(?:com|org|net|io)\b|</?\w+[ >/]|[{}<>]|\w+\(\)|==|=>|->")
_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|override|bypass|forget)\b.{0,30}\b(?:previous|prior|above|earlier|all|your|these|"
    r"those|any)\b.{0,30}"
    r"\b(?:instructions?|rules?|prompts?|guidelines?|directions?|messages?|constraints?|polic(?:y|ies))\b|"
    r"\bsystem prompt\b|\byou are now\b|\bdeveloper mode\b|\bjailbreak|<\|[a-z_]+\|>|\bact as (?:an?|if|my|the)\b|"
    r"\bpretend (?:to be|you are|that you)\b|\broleplay\b|\bnew instructions?\s*:|\[/?inst\]|\breveal (?:your|"
    r"the) (?:prompt|instructions)\b",
    re.IGNORECASE,
)
_RETRACTION = re.compile(
    r"\b(?:don'?t|do not|never|please no,? don'?t) (?:ever )?(?:remember|save|store|keep|record|memori[sz]e|"
    r"write down|note)"
    r"(?! (?:when|where|how|who|much|why|if|him|her|them|anymore|exactly|which|his|my|the)\b)\b|"
    r"^(?:[\W]|please|oh|actually|ok|okay|well|and|so|no|just|sorry|wait|can you|could you|you can|let'?s)*"
    r"(?:forget (?:that|it|this|what|about (?:it|that)|i\b|everything)|scratch that|strike that|"
    r"disregard (?:that|this|my last|what i))|"
    r"\bnever ?mind\b|\boff the record\b|\bjust kidding\b|\b(?:i'?m|i was|i am|only|just) (?:just |"
    r"only )?(?:kidding|joking)\b",
    re.IGNORECASE,
)
_DIRECT = listed(
    """tell give show help write make create let imagine explain describe list suggest recommend summarize translate
    consider note add fix check find generate provide look use try think""",
)


def is_instruction(text: str) -> bool:
    """Whether a text tries to steer a model rather than to tell something."""
    return bool(_INSTRUCTION.search(text))


def is_retraction(text: str) -> bool:
    """Whether a text takes back what was said: "never mind", "don't remember that"."""
    return bool(_RETRACTION.search(text))


def is_plain(text: str) -> bool:
    """Whether a text is free of quotations, addresses and mark-up."""
    return not _QUOTE.search(text) and not _ADDRESS.search(text)


def is_english(tokens: Sequence[Token]) -> bool:
    """Whether a sentence has enough of the small words and verbs of English to be read by English rules."""
    words = [token.low for token in tokens if token.is_word]
    return sum(word in ENGLISH or verbs.verb_form(word) is not None for word in words) * 6 >= len(words)


def is_doubt(tokens: Sequence[Token]) -> bool:
    """Whether a whole sentence only casts doubt on the one before: "But I'm not sure." """
    return len(tokens) <= 12 and bool(_HEDGE.search(_low(tokens)))


def stated_clauses(tokens: Sequence[Token]) -> list[list[Token]]:
    """Return the clauses of a sentence that state something as a fact."""
    clauses = split_clauses(tokens)
    if not clauses:
        return []
    if any(token.low == "?" for token in tokens):
        clauses = _before_question(clauses)
    elif asks(clauses[0]):
        return []
    stated: list[list[Token]] = []
    for clause in clauses:
        low = _low(clause)
        hedge = _HEDGE.search(low)
        if hedge:
            return [] if _short(clause) or hedge.group() == "if" else stated
        if _REPORT.match(low) and len(clause) <= 6 and stated:
            return []
        if not _directs(clause):
            stated.append(clause)
    return stated


def _low(tokens: Sequence[Token]) -> str:
    return " ".join(token.low for token in tokens)


def _short(clause: Sequence[Token]) -> bool:
    return sum(token.is_word for token in clause) <= 6


def _before_question(clauses: list[list[Token]]) -> list[list[Token]]:
    if _TAG.match(_low(clauses[-1])):
        return []
    for position, clause in enumerate(clauses):
        if asks(clause):
            # "… or was it 1932?" takes back what was said before it.
            return [] if clause[0].low == "or" else clauses[:position]
    return []


def asks(clause: Sequence[Token]) -> bool:
    """Whether a clause has the word order of a question or exclamation."""
    words = [token.low for token in clause if token.is_word]
    while words and words[0] in {
        "so",
        "and",
        "but",
        "well",
        "ok",
        "oh",
        "hey",
        "hmm",
        "also",
        "then",
        "or",
        "wow",
        "yeah",
    }:
        words.pop(0)
    if not words:
        return False
    following = words[1] if len(words) > 1 else ""
    if words[0] in {"what", "how", "why", "who", "whose", "which", "where"}:
        return True
    if words[0] in {"when", "any", "anything"}:
        return following in {
            "did",
            "was",
            "is",
            "does",
            "do",
            "were",
            "will",
            "can",
            "tips",
            "ideas",
            "advice",
            "other",
        }
    if words[0] in AUXILIARIES:
        return (
            following
            in SUBJECT_PRONOUNS | {"there", "not", "this", "that", "my", "the", "your", "his", "her", "anyone"}
            or following[:1].isalpha()
        )
    return False


def _directs(clause: Sequence[Token]) -> bool:
    """Whether a clause is a command."""
    words = [token.low for token in clause if token.is_word][:2]
    if words[:1] == ["please"]:
        return True
    return bool(words) and words[0] in _DIRECT and verbs.is_base(words[0])
