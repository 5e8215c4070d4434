"""An extract of what was said: the sentences that carry most of it, what it was about, and the feelings it names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from language.base import EpisodeCandidate, ExtractionRequest, Utterance
from language.offline import modality
from language.offline.lexicon import verbs
from language.offline.lexicon.topics import TONES
from language.offline.lexicon.words import DAYS, MONTHS, NUMBERS, STOPWORDS
from language.offline.sentences import MAX_CHARACTERS, Sentence, own_words, split_sentences
from language.offline.tokens import Token, tokenize

MAX_EXTRACT = 240
MAX_EXTRACTS = 2
MAX_TOPICS = 4
MAX_EPISODE = 280
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DECIDED = re.compile(
    r"^(?:so |ok |okay |well |and |then |, )*i (?:have |finally |just )*(?:decided|chose|agreed|promised) (?:to|on|that) (?P<what>[a-z].{2,160})$"
)
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


def summarise(request: ExtractionRequest) -> str:
    """Return two to four sentences: what was talked about, one or two sentences as they were said, and the tone.

    The sentences are the user's own, in any script; other speakers' are used only when the user says nothing.
    """
    said = _said(request.messages, ("user",)) or _said(request.messages, ("assistant", "tool", "system"))
    name = request.user_name.strip() or "The user"
    if not said:
        return f"A conversation with {name} of {_counted(len(request.messages))}. Nothing was put into words."
    topics = _topics(said)
    opening = (
        f"{name} talked about {_enumerated(topics)}."
        if topics
        else f"A conversation with {name} of {_counted(len(request.messages))}."
    )
    about = f" The conversation was about {request.legacy_name}." if request.legacy_name and not topics else ""
    extracts = [f"{one.speaker} said: “{_cut(one.text)}”" for one in _central(said)]
    tone = _tone(said)
    closing = f" The tone was {_enumerated(tone)}." if tone else ""
    return f"{opening}{about} {' '.join(extracts)}{closing}"


def episodes(request: ExtractionRequest) -> tuple[EpisodeCandidate, ...]:
    """Return up to two sentences in the past tense on what the user talked about and decided."""
    said = [one for one in _said(request.messages, ("user",)) if modality.is_english(one.tokens)]
    found: list[EpisodeCandidate] = []
    topics = _topics(said, fewest=2)
    if len(topics) >= 2:
        indices = tuple(sorted({one.index for one in said if one.keys & {topic.lower() for topic in topics}}))
        found.append(EpisodeCandidate(f"Talked about {_enumerated(topics)}."[:MAX_EPISODE], indices))
    decided = _decision(said)
    if decided is not None:
        found.append(decided)
    return tuple(found)


def _counted(count: int) -> str:
    return f"{count} message{'' if count == 1 else 's'}"


def _said(messages: Sequence[Utterance], roles: Sequence[str]) -> list[_Said]:
    said: list[_Said] = []
    for message in messages:
        if message.role not in roles or modality.is_instruction(message.content):
            continue
        speaker = message.speaker.strip() or message.role
        for sentence in split_sentences(own_words(message.content[:MAX_CHARACTERS])):
            said.append(_one(message.index, speaker, sentence, len(said)))
    return said


def _one(index: int, speaker: str, sentence: Sentence, order: int) -> _Said:
    text = " ".join(sentence.text.split())
    tokens = tuple(tokenize(text[: 4 * MAX_EXTRACT]))
    if _CJK.search(text):
        letters = [character for character in text[: 4 * MAX_EXTRACT] if character.isalnum()]
        keys = frozenset("".join(pair) for pair in zip(letters, letters[1:], strict=False))
    else:
        keys = frozenset(token.low for token in tokens if _carries(token))
    return _Said(index, speaker, text, order, keys, tokens)


def _carries(token: Token) -> bool:
    return len(token.low) > 2 and token.low[0].isalpha() and token.low not in _TOPICLESS


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
    text = text.replace("“", "'").replace("”", "'").replace('"', "'")
    if len(text) <= MAX_EXTRACT:
        return text
    shortened = text[: MAX_EXTRACT - 1]
    head, _, _ = shortened.rpartition(" ")
    return (head if len(head) > MAX_EXTRACT // 2 else shortened).rstrip(" ,;:") + "…"


def _topics(said: Sequence[_Said], fewest: int = 1) -> list[str]:
    """Return the words that come up in most sentences, as they were written; none for text in no known language."""
    counts: Counter[str] = Counter()
    written: dict[str, str] = {}
    first: dict[str, int] = {}
    for one in said:
        if not modality.is_english(one.tokens):
            continue
        for token in one.tokens:
            if token.low not in one.keys or token.owner or _is_verbal(token):
                continue
            key = token.low
            counts[key] += 2 if token.capital and token.start else 1
            first.setdefault(key, one.order)
            if key not in written or (token.capital and token.start):
                written[key] = token.text if token.capital and token.start else token.low
    ranked = sorted((key for key in counts if counts[key] >= fewest), key=lambda key: (-counts[key], first[key], key))
    chosen: list[str] = []
    for key in ranked:
        if not any(verbs.base_of(key) == verbs.base_of(other) for other in chosen):
            chosen.append(key)
        if len(chosen) == MAX_TOPICS:
            break
    return [written[key] for key in sorted(chosen, key=lambda key: first[key])]


def _is_verbal(token: Token) -> bool:
    """Whether a word is only a verb form, and so names nothing that was talked about."""
    form = verbs.verb_form(token.low)
    return form is not None and not token.capital and bool(form.kinds & {"past", "part", "s", "base"})


def _tone(said: Sequence[_Said]) -> list[str]:
    counts: Counter[str] = Counter()
    for one in said:
        words = [token.low for token in one.tokens]
        if not set(words) & {"i", "me", "my", "we", "us"}:
            continue
        for position, word in enumerate(words):
            denied = set(words[max(0, position - 3) : position]) & {"not", "never", "no"}
            for tone, names in TONES.items():
                if word in names and not denied:
                    counts[tone] += 1
    return [tone for tone, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:2]]


def _decision(said: Sequence[_Said]) -> EpisodeCandidate | None:
    for one in said:
        low = " ".join(token.low for token in one.tokens if token.is_word)
        match = _DECIDED.match(low)
        if match and not one.text.endswith("?"):
            what = match.group("what")
            if not re.search(r"\b(?:i|me|my|we|us|our|you|your|it|this|that|they|them|he|she|him|her)\b", what):
                verb = re.search(r"decided|chose|agreed|promised", low)
                assert verb is not None
                link = low[verb.end() :].split()[0]
                return EpisodeCandidate(f"{verb.group().capitalize()} {link} {what}."[:MAX_EPISODE], (one.index,))
    return None


def _enumerated(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
