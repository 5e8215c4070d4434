"""Put statements into the past tense, for summaries of a conversation."""

from __future__ import annotations

from .parse import Parsed, Word

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
_MODALS = {"can": "could", "ca": "could", "will": "would", "wo": "would", "may": "might", "must": "had to"}
_MODALS |= {"'ll": "would"}


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


def in_the_past(parsed: Parsed) -> str:
    """A statement in the third person with its verbs in the past tense; quotations stay as they are."""
    text, quoted, out, end = parsed.text, False, [], 0
    perfects = {word.index: word.head for word in parsed.words if _is_perfect(parsed, word)}
    for word in parsed.words:
        quoted ^= word.text == '"'
        if word.index in perfects and not quoted:
            out.append(text[end : word.start])
            end = word.end + 1
            continue
        out.append(text[end : word.start])
        told = word.text if quoted else _past_form(parsed, word, is_perfect=word.index in perfects.values())
        apart = told != word.text and told[:1].isalpha() and out[-1] == "" and word.start > 0
        out.append(f" {told}" if apart else told)
        end = word.end
    return " ".join(("".join(out) + text[end:]).split())


def _is_perfect(parsed: Parsed, word: Word) -> bool:
    """Whether an auxiliary only forms the perfect: "has decided" becomes "decided". Not where the state continues."""
    verb = parsed.head(word)
    if word.dep != "aux" or word.lemma != "have" or word.tag not in {"VBZ", "VBP"} or verb.tag != "VBN":
        return False
    others = parsed.children(verb)
    return not any(each.dep in {"neg", "auxpass"} or each.low in {"since", "for", "always", "ever"} for each in others)


def _past_form(parsed: Parsed, word: Word, *, is_perfect: bool) -> str:
    if is_perfect:
        return "was" if word.lemma == "be" else past_of(word.lemma.lower())
    if word.low == "n't":
        return "not"
    if word.tag == "MD":
        return _MODALS.get(word.low, word.text)
    if word.pos not in {"VERB", "AUX"} or word.tag not in {"VBZ", "VBP"}:
        return word.text
    if word.lemma == "be":
        return "were" if word.low == "are" else "was"
    return past_of(word.lemma.lower())
