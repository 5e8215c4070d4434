"""Rewrite typical learners' English: missing articles, ages, "since four years", "works like"."""

from __future__ import annotations

import re

from language.reading.words import listed

_NO_ARTICLE = re.compile(
    r"(?i)\b((?:have|has|had) "
    r"(?=(?:(?:small|big) (?:[a-z]+ )?)?(?:dog|cat|horse|son|daughter|brother|sister|house|car|garden|bakery|shop)\b)|"
    r"(?:is|was|am|'m|(?<=[eE])'s) (?=(?:nurse|teacher|doctor|dentist|driver|cook|chef|baker|fisherman|farmer"
    r"|engineer|lawyer|"
    r"student|vet|carpenter|tailor|waiter|waitress|programmer|accountant|mechanic|electrician|plumber|gardener|painter|"
    r"musician|soldier|sailor|miner|pharmacist|secretary|housewife|widow|widower|orphan)"
    r"(?=[.,;!?]|$| (?:in|at|and|since|by|for|from|on|but|with|of|here|there|now)\b)))"
)
_WORKS_LIKE = re.compile(
    r"(?i)\b(?P<works>work(?:s|ed|ing)?) (?:like|as) (?!an?\b|the\b|hell\b|crazy\b|mad\b|my\b|one\b|this\b|that\b)"
    r"(?=(?P<first>[a-z])[a-z]+[a-rt-z](?:[.,;!?]|$| (?:in|at|for|since|from|by|and|but|here|there|now)\b))"
)
_YEARS_HAD = re.compile(
    r"(?i)\b(?P<who>i|he|she|they|we) (?P<had>have|has|had) (?P<age>\d{1,3}|[a-z]+(?:-[a-z]+)?)(?= years?(?:$|[.,;!?]))"
)
_SO_LONG = (
    r"since (?=(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|some|many|several|a few) "
    r"(?:years?|months?|weeks?|days?)\b(?! ago))"
)
_SINCE = re.compile(rf"(?i)\b{_SO_LONG}")
_DOES_SINCE = re.compile(
    r"(?i)\b(?P<who>i|we|they|he|she)"
    r"(?:'(?:m|re|s)| (?:am|are|is)| (?P<verb>work|live|play|stay|study|learn|cook|paint)s?)"
    rf"\b(?P<what>[^.,;!?]{{0,60}}? ){_SO_LONG}"
)
_GOT = re.compile(
    r"(?i)(?:'ve|(?<=\w)(?P<space> )(?P<has>have|has)) got (?=(?:an?|no|some|two|three|four|five|\d+|type|my|his|her"
    r"|(?:crohn|parkinson|alzheimer|asthma|diabetes|epilepsy|arthritis|cancer|migraine)\w*(?:'s)?)\b)"
)
_ILLNESS = re.compile(r"(?i)(?<!\w)(crohn|parkinson|alzheimer|hashimoto|asperger|tourette|hodgkin)'?s\b")
_SHORT_ILLNESS = re.compile(
    r"(?i)\b(?P<has>have|has|had|with) (?P<ill>ms|adhd|copd|ibs|ptsd|ocd|hiv|pcos|add)(?=[.,;!?]|$| )"
)
_AGED = {"have": "am", "has": "is", "had": "was"}
_VOWELS = listed("a e i o u")


def article(letter: str) -> str:
    """The indefinite article before a word that begins with this letter."""
    return "an" if letter.lower() in _VOWELS else "a"


def _age_with_be(match: re.Match[str]) -> str:
    plural = match["who"].lower() in {"they", "we"}
    be = {"have": "are", "had": "were"}.get(match["had"].lower(), "is") if plural else _AGED[match["had"].lower()]
    return f"{match['who']} {be} {match['age']}"


def _perfect_with_for(match: re.Match[str]) -> str:
    has = "has" if match["who"].lower() in {"he", "she"} else "have"
    verb = (match["verb"] or "").lower()
    done = {"": "been", "live": "lived", "study": "studied"}.get(verb, f"{verb}ed")
    return f"{match['who']} {has} {done}{match['what']}for "


LEARNERS = (
    (re.compile(r"(?i)\b(?:is|was|were|has been) (?=died\b)"), lambda _: ""),
    (_YEARS_HAD, _age_with_be),
    (_SHORT_ILLNESS, lambda match: f"{match['has']} {match['ill'].upper()}"),
    (re.compile(r"(?i)\ballergic (?:of|from|against|with|on) (?=(?:the )?\w)"), lambda _: "allergic to "),
    (re.compile(r"(?i)\bafraid (?:from|for|by) (?=the\b|my\b|\w+s\b)"), lambda _: "afraid of "),
    (_ILLNESS, lambda match: f"{match[1].capitalize()}'s"),
    (_GOT, lambda match: f" {match['has'] or 'have'} "),
    (_WORKS_LIKE, lambda match: f"{match['works']} as {article(match['first'])} "),
    (_NO_ARTICLE, lambda match: f"{match.group()}{article(match.string[match.end()])} "),
    (_DOES_SINCE, _perfect_with_for),
    (_SINCE, lambda match: "for "),
)
"""Patterns and their replacements."""
