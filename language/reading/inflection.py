"""Inflected forms of English verbs."""

from __future__ import annotations

import re

from .words import listed

_IRREGULAR = """
arise arose/be was/bear bore/beat beat/become became/begin began/bend bent/bet bet/bite bit/bleed bled/blow blew
break broke/breed bred/bring brought/build built/burst burst/buy bought/catch caught/choose chose/come came/cost cost
creep crept/cut cut/deal dealt/dig dug/do did/draw drew/drink drank/drive drove/eat ate/fall fell/feed fed/feel felt
fight fought/find found/fit fit/flee fled/fly flew/forget forgot/forgive forgave/freeze froze/get got/give gave
go went/grow grew/hang hung/have had/hear heard/hide hid/hit hit/hold held/hurt hurt/keep kept/kneel knelt/know knew
lay laid/lead led/leave left/lend lent/let let/lie lay/light lit/lose lost/make made/mean meant/meet met/pay paid
put put/quit quit/read read/ride rode/ring rang/rise rose/run ran/say said/see saw/seek sought/sell sold/send sent
set set/sew sewed/shake shook/shine shone/shoot shot/show showed/shut shut/sing sang/sink sank/sit sat/sleep slept
slide slid/speak spoke/spend spent/split split/spread spread/spring sprang/stand stood/steal stole/stick stuck
sting stung/strike struck/swear swore/sweep swept/swim swam/swing swung/take took/teach taught/tear tore/tell told
think thought/throw threw/understand understood/upset upset/wake woke/wear wore/weave wove/weep wept/win won
wind wound/write wrote
"""
_PAST = dict(pair.split() for line in _IRREGULAR.strip().splitlines() for pair in line.split("/"))
_INVARIABLE = listed("is was has does had did trod lit wed shod") | frozenset(_PAST.values()) - _PAST.keys()


def past_of(lemma: str) -> str:
    """The simple past of a verb."""
    if lemma in _PAST:
        return _PAST[lemma]
    if lemma.endswith("e"):
        return f"{lemma}d"
    if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        return f"{lemma[:-1]}ied"
    short = len(lemma) >= 3 and lemma[-1] in "bdgmnpt" and lemma[-2] in "aeiou" and lemma[-3] not in "aeiou"
    doubled = short and sum(letter in "aeiou" for letter in lemma) == 1
    return f"{lemma}{lemma[-1] if doubled else ''}ed"


def inflect_third_person(verb: str) -> str:
    """The third person singular of a verb: "carry" gives "carries". Unrecognised past forms stay."""
    if verb.lower() in _INVARIABLE:
        return verb
    if verb.lower() == "have":
        return "has"
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return verb + "es"
    return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", verb) else verb + "s"
