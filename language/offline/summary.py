"""An extract of what was said: the sentences that carry most of it, what it was about, and the feelings it names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from language.base import EpisodeCandidate, ExtractionRequest
from language.offline import modality
from language.offline.lexicon import verbs
from language.offline.lexicon.topics import HOBBY_NOUNS, LOOKS, TONES, TRAITS
from language.offline.lexicon.words import (
    DAYS,
    DETERMINERS,
    GROUP_PRONOUNS,
    HE,
    KIN,
    MONTHS,
    NUMBERS,
    SHE,
    STOPWORDS,
    THEY,
    USER_PRONOUNS,
    YOU_PRONOUNS,
    listed,
)
from language.offline.reading import MAX_SENTENCE, Line, Lines
from language.offline.tokens import Token, tokenize

MAX_EXTRACT = 240
MAX_EXTRACTS = 2
MAX_TOPICS = 4
MAX_WORD = 30
MAX_DECISION = 30
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DECIDED = listed("decided chose agreed promised")
_BEFORE_DECIDED = listed("i have finally just")
_AFTER_DECIDED = listed("to on that")
_UNCLEAR = (
    USER_PRONOUNS | GROUP_PRONOUNS | YOU_PRONOUNS | HE | SHE | THEY | listed("it this that these those there here")
)
_TONE_OF = {word: tone for tone, words in TONES.items() for word in words}
_DESCRIBING = TRAITS | LOOKS | _TONE_OF.keys()
_ADJECTIVE_ENDS = ("ly", "ful", "ous", "ive", "able", "ible", "less", "ish", "est")
_TOPICLESS = STOPWORDS | DAYS | MONTHS | NUMBERS


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence of a message, with its words that carry meaning."""

    index: int
    speaker: str
    text: str
    order: int
    keys: frozenset[str]
    tokens: tuple[Token, ...]
    english: bool


def summarise(request: ExtractionRequest, lines: Lines) -> str:
    """Return two to four sentences: what was talked about, one or two sentences as they were said, and the tone.

    The sentences are the user's own, in any script; other speakers' are used only when the user says nothing.
    """
    said = _said(request, lines, ("user",)) or _said(request, lines, ("assistant",))
    name = request.user_name.strip() or "The user"
    about = (request.legacy_name or "").strip()
    topics = _topics(said, _names_in(request))
    opening = f"{name} talked about {_enumerated([about, *topics] if about else topics)}." if about or topics else ""
    opening = opening or f"{name} and others exchanged {_counted(len(request.messages))}."
    if not said:
        return f"{opening} Nothing of it was in plain words."
    extracts = [f"{one.speaker} said: “{_cut(one.text)}”" for one in _central(said)]
    tone = _tone(said)
    closing = [f"The tone was {_enumerated(tone)}."] if tone else []
    return " ".join([opening, *extracts, *closing])


def episodes(request: ExtractionRequest, lines: Lines) -> tuple[EpisodeCandidate, ...]:
    """Return up to two sentences in the past tense on whom and what places the user talked about, and decided."""
    said = [one for one in _said(request, lines, ("user",)) if one.english]
    found: list[EpisodeCandidate] = []
    names = _recurring_names(said, _names_in(request))
    if names:
        keys = {name.lower() for name in names}
        indices = tuple(sorted({one.index for one in said if one.keys & keys}))
        found.append(EpisodeCandidate(f"Talked about {_enumerated(names)}.", indices))
    decided = _decision(said)
    if decided is not None:
        found.append(decided)
    return tuple(found)


def _counted(count: int) -> str:
    return f"{count} message{'' if count == 1 else 's'}"


def _said(request: ExtractionRequest, lines: Lines, roles: Sequence[str]) -> list[_Said]:
    said: list[_Said] = []
    for message in request.messages:
        if message.role not in roles or modality.is_instruction(message.content):
            continue
        speaker = message.speaker.strip() or message.role
        said += [
            _one(message.index, speaker, line, len(said) + place) for place, line in enumerate(lines[message.index])
        ]
    return said


def _one(index: int, speaker: str, line: Line, order: int) -> _Said:
    text = line.sentence.text
    if _CJK.search(text):
        letters = [character for character in text[:MAX_SENTENCE] if character.isalnum()]
        keys = frozenset("".join(pair) for pair in pairwise(letters))
    else:
        keys = frozenset(token.low for token in line.tokens if _carries(token))
    return _Said(index, speaker, text, order, keys, line.tokens, line.english)


def _carries(token: Token) -> bool:
    return 2 < len(token.low) <= MAX_WORD and token.low[0].isalpha() and token.low not in _TOPICLESS


def _central(said: Sequence[_Said]) -> list[_Said]:
    """Choose the sentences whose words come up most in the others too, without saying the same twice."""
    counts = Counter(key for one in said for key in one.keys)
    chosen: list[_Said] = []
    covered: set[str] = set()
    while len(chosen) < MAX_EXTRACTS:
        best = max(
            (one for one in said if one not in chosen),
            key=lambda one: (_weight(one, counts, covered), -one.order),
            default=None,
        )
        if best is None or (chosen and _weight(best, counts, covered) <= 0):
            break
        chosen.append(best)
        covered |= best.keys
    return sorted(chosen, key=lambda one: one.order)


def _weight(one: _Said, counts: Counter[str], covered: set[str]) -> float:
    new = [counts[key] for key in one.keys if key not in covered]
    if not new:
        return 0.0
    question = 0.5 if one.text.endswith(("?", "？")) else 1.0
    return question * sum(new) / (6 + len(one.keys)) * min(1.0, len(one.keys) / 3)


def _cut(text: str) -> str:
    text = " ".join(text.split()).replace("“", "'").replace("”", "'").replace('"', "'")
    if len(text) <= MAX_EXTRACT:
        return text if not text[-1].isalnum() else f"{text}."
    shortened = text[: MAX_EXTRACT - 1]
    head, _, _ = shortened.rpartition(" ")
    return (head if len(head) > MAX_EXTRACT // 2 else shortened).rstrip(" ,;:") + "…"


def _names_in(request: ExtractionRequest) -> set[str]:
    """The words for those who talk and for whom all of it is about: no news as topics."""
    names = {request.legacy_name or "", request.user_name, *(message.speaker for message in request.messages)}
    return {token.low for name in names for token in tokenize(name)} | KIN.keys()


def _recurring_names(said: Sequence[_Said], left_out: set[str]) -> list[str]:
    """Return the names that come up in two sentences or more, in the order in which they first did.

    Any other word that recurs may be there by chance, and an episode of such words tells nobody anything.
    """
    sentences: Counter[str] = Counter()
    written: dict[str, str] = {}
    for one in said:
        inside = {token.low: token.text for token in one.tokens[1:] if token.capital and not token.owner}
        names = inside.keys() & one.keys - left_out
        sentences.update(names)
        written |= {name: inside[name] for name in names}
    ranked = sorted((name for name in sentences if sentences[name] > 1), key=lambda name: (-sentences[name], name))
    first = {name: next(one.order for one in said if name in one.keys) for name in ranked}
    return [written[name] for name in sorted(ranked[:MAX_TOPICS], key=lambda name: (first[name], name))]


def _topics(said: Sequence[_Said], left_out: set[str]) -> list[str]:
    """Return the words that come up most, as they were written; none from sentences that are not in English."""
    counts: Counter[str] = Counter()
    written: dict[str, str] = {}
    first: dict[str, int] = {}
    for one in said:
        if not one.english:
            continue
        for position, token in enumerate(one.tokens):
            if token.low not in one.keys or token.low in left_out or token.owner or not _names(one.tokens, position):
                continue
            # The first word of a sentence has its capital from there.
            named = token.capital and position > 0
            counts[token.low] += 2 if named else 1
            first.setdefault(token.low, one.order)
            if named or token.low not in written:
                written[token.low] = token.text if named else token.low
    ranked = sorted(counts, key=lambda key: (-counts[key], first[key], key))
    chosen: list[str] = []
    for key in ranked:
        if not any(verbs.base_of(key) == verbs.base_of(other) for other in chosen):
            chosen.append(key)
        if len(chosen) == MAX_TOPICS:
            break
    return [written[key] for key in sorted(chosen, key=lambda key: first[key])]


def _names(tokens: Sequence[Token], position: int) -> bool:
    """Whether a word names what is talked about: a word that can be a verb does so after "the" or "her"."""
    token = tokens[position]
    form = verbs.verb_form(token.low)
    if token.low in _DESCRIBING or (token.low.endswith(_ADJECTIVE_ENDS) and not token.capital):
        return False
    if form is None or token.low in HOBBY_NOUNS or (token.capital and position):
        return True
    return position > 0 and (tokens[position - 1].low in DETERMINERS or tokens[position - 1].owner)


def _tone(said: Sequence[_Said]) -> list[str]:
    counts: Counter[str] = Counter()
    for one in said:
        words = [token.low for token in one.tokens]
        if not set(words) & {"i", "me", "we", "us"}:
            continue
        for position, word in enumerate(words):
            denied = word in _TONE_OF and set(words[max(0, position - 3) : position]) & {"not", "never", "no"}
            if word in _TONE_OF and not denied:
                counts[_TONE_OF[word]] += 1
    return [tone for tone, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:2]]


def _decision(said: Sequence[_Said]) -> EpisodeCandidate | None:
    """Read "I've decided to sell the house"; None when it isn't clear by itself what was decided."""
    for one in said:
        words = [token for token in one.tokens if token.is_word]
        lows = [token.low for token in words]
        verb = next((place for place, low in enumerate(lows) if low in _DECIDED), 0)
        what = lows[verb + 1 :]
        if not verb or lows[verb - 1] not in _BEFORE_DECIDED or "i" not in lows[:verb] or "not" in lows[:verb]:
            continue
        if len(what) < 2 or len(what) > MAX_DECISION or what[0] not in _AFTER_DECIDED or set(what) & _UNCLEAR:
            continue
        if not one.text.endswith("?"):
            content = f"{lows[verb].capitalize()} {' '.join(token.text for token in words[verb + 1 :])}."
            return EpisodeCandidate(content, (one.index,))
    return None


def _enumerated(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
