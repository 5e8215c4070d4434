"""Insights without a language model: a feeling that the person names at least twice, and nothing else."""

from __future__ import annotations

import re

from language.insights import MOST_INSIGHTS, Insight, InsightRequest

_FEELINGS = {
    "worried": "worried|anxious|nervous|afraid|scared|frightened|uneasy",
    "sad": "sad|unhappy|heartbroken|miserable|grieving",
    "lonely": "lonely",
    "tired": "tired|exhausted|worn out|drained",
    "happy": "happy|glad|delighted|overjoyed|cheerful",
    "grateful": "grateful|thankful",
    "proud": "proud",
    "angry": "angry|furious|annoyed|frustrated",
}
_DEGREE = (
    r"(?:(?:so|very|really|quite|rather|still|also|a bit|a little|often|increasingly|too|just|extremely|deeply) ){0,2}"
)
_BE_OF_ONESELF = r"\b(?:I['’]?m|I am|I feel|I felt|I was|I['’]ve been|I have been|I keep feeling|I get)"
_BE_OF_USER = r"\bthe user (?:is|feels|felt|was|has been|gets)"
_RULES = {
    feeling: (
        re.compile(rf"{_BE_OF_ONESELF} {_DEGREE}(?:{words})\b", re.IGNORECASE),
        re.compile(rf"{_BE_OF_USER} {_DEGREE}(?:{words})\b", re.IGNORECASE),
    )
    for feeling, words in _FEELINGS.items()
}
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_NO_STATEMENT = re.compile(
    r"\?|\b(?:not|never|no longer|hardly|if|when|would|could|might|maybe|said|says|told|think)\b|n['’]t\b|[\"“”]",
    re.IGNORECASE,
)
"""A question, a denial, a condition or somebody else's words: then the feeling may not be there."""
_FEWEST = 2


def guess(request: InsightRequest) -> tuple[Insight, ...]:
    """The feelings that at least two passages name plainly, those of the most passages first. English only."""
    found = []
    for feeling, (own, noted) in _RULES.items():
        memories = tuple(each.id for each in request.memories if _names(noted, each.content))
        messages = tuple(each.index for each in request.messages if _names(own, each.content))
        if len(memories) + len(messages) >= _FEWEST:
            found.append(Insight(f"The user seems {feeling} lately.", ("mood",), 2, memories, messages))
    found.sort(key=lambda each: -len(each.memories) - len(each.messages))
    return tuple(found[:MOST_INSIGHTS])


def _names(rule: re.Pattern[str], text: str) -> bool:
    return any(rule.search(each[0]) and not _NO_STATEMENT.search(each[0]) for each in _SENTENCE.finditer(text))
