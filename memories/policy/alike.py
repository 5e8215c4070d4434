"""Whether two memories may be one, for consolidation: what they have to have in common, whoever says that they are.

A wrong merge loses a statement, so each of these rules can only keep two memories apart. Figures, names, dates, units,
denial and who is meant are compared word by word; a model is asked about the rest, and never instead. No database.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from language.base import Comparison
from language.reading.compare import compare, shared_words
from language.reading.gist import Gist, same_gist
from language.reading.stems import stem
from language.reading.words import listed

ENOUGH_SHARED = 0.2
"""Which part of their words two memories have to share, of those that matter, before anybody is asked about them."""

_SHORT = 4
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+")
_CODE = re.compile(r"\b(?=\w*[^\W\d_])(?=\w*\d)(?!\d+(?:st|nd|rd|th)\b)\w+")
_CAPITALISED = re.compile(r"\b[^\W\d_][\w]*(?:['’][^\W\d_]+)*")


def _root(low: str) -> str:
    """A word in lower case without its endings: what two forms of one word have in common, also of some others."""
    low = stem(low)
    if low.isdigit() or len(low) < _SHORT:
        return low
    low = re.sub(r"ies$", "y", re.sub(r"(?<=[sxh])es$|(?<=[^s])s$|(?<=...)ing$|(?<=...)ed$", "", low))
    return re.sub(r"([^aeiou])\1$", r"\1", stem(low)).rstrip("e")


def _rooted(text: str) -> frozenset[str]:
    return frozenset(_root(word) for word in listed(text))


_STARTERS = frozenset(
    listed(
        """the a an user users in on at for since each every before after during when while if because as with without
    from to by until both one two three there it this that these those and but most many some all no nobody
    everybody
    is was has had does likes loves hates enjoys prefers wants needs owns keeps takes uses drinks eats wears drives
    works lives plays studies speaks knows goes runs"""
    )
)
_TENS = {
    word: str(10 * tens)
    for tens, word in enumerate(["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 3)
}
_ORDINALS = _rooted(
    """first second third fourth fifth sixth seventh eighth ninth tenth once twice hundred thousand million billion
    dozen half quarter double"""
)
_DENYING = _rooted(
    """not no never none nobody nothing neither nor cannot without hardly barely rarely seldom longer anymore except
    lack stop former formerly ex"""
)
_PREFIXES = ("un", "in", "im", "dis", "il", "ir", "non", "mis")
_DATES = _rooted(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december spring summer autumn fall winter morning noon afternoon evening night
    midnight weekday weekend today yesterday tomorrow easter christmas am pm"""
)
_NAMED_DATES = listed(
    """monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays saturday saturdays sunday
    sundays"""
)
_UNITS = _rooted(
    """second minute hour day week month quarter year decade s ms min h millisecond metre meter kilometre kilometer
    centimetre mile inch foot feet yard cm mm km m gram kilo kilogram pound ton mg g kg lb microgram
    milligram ml cl dl litre liter gallon cup glass teaspoon tablespoon spoon percent degree celsius
    fahrenheit euro franc dollar yen pound cent kb mb gb tb µg μg mbit gbit lengths steps page daily weekly
    monthly yearly hourly annually nightly"""
)
_SAME_UNITS = {
    _root(word): _root(same)
    for pair in listed(
        """daily/day nightly/night hourly/hour weekly/week monthly/month yearly/year annually/year kilometer/kilometre
    km/kilometre meter/metre centimeter/centimetre cm/centimetre kilo/kilogram kg/kilogram liter/litre
    min/minute h/hour"""
    )
    for word, same in [pair.split("/")]
}
_PEOPLE = _rooted(
    """mother father parent brother sister sibling son daughter child baby wife husband spouse partner girlfriend
    boyfriend fiancé fiancée fiancee grandmother grandfather grandparent grandson granddaughter grandchild aunt
    uncle niece nephew cousin stepfather stepmother godfather godmother twin friend flatmate roommate neighbour
    boss manager supervisor colleague coworker assistant employee client customer supplier landlord tenant
    doctor dentist therapist nurse plumber teacher pupil student coach mentor lawyer agent team family dog cat cleaner
    babysitter trainee
    horse pet bird rabbit law stepson stepdaughter mom grandma grandpa her his their user"""
)
_OPPOSITES = {
    (word, side)
    for pair in listed(
        """older/younger elder/younger oldest/youngest eldest/youngest permits/forbids bought/sold early/late
    left/right left/left-out always/sometimes always/rarely more/less most/least before/after high/low
    big/small large/small long/short new/old rich/poor open/closed buy/sell lend/borrow love/hate like/hate
    start/stop begin/end import/export import/delete up/down in/out inside/outside public/private hot/cold
    light/dark full/empty full-time/part-time from/to arrive/leave win/lose give/receive teach/learn
    above/below over/under upper/lower happy/sad good/bad best/worst
    use/avoid uses/avoids granted/denied agree/refuse accept/reject
    accept/refuse accept/decline grant/deny grant/refuse pass/fail support/oppose on/off last/next
    near/far marry/divorce married/divorced late/present late/current late/living
    this/next this/last half/whole
    keep/lose allow/forbid approve/reject"""
    )
    for word, side in (pair.split("/"), pair.split("/")[::-1])
}
_OPPOSITE_ROOTS = {(_root(word), _root(side)) for word, side in _OPPOSITES}
_QUALIFYING = {
    _root(word): family
    for family, words in {
        "or": "or either",
        "being": "being",
        "almost": "almost nearly",
        "other": "other",
        "until": "until till",
        "may": "may might perhaps maybe possibly",
        "can": "can could able",
        "will": "will would",
        "must": "must should shall ought",
        "some": "some sometimes partly",
        "more": "more",
        "less": "less fewer least",
        "most": "most mostly usually",
        "against": "against",
        "want": "want hope plan intend wish try aim",
    }.items()
    for word in listed(words)
}
"""Words that make another statement of one: it is meant, allowed, wished, or one of two."""
_COMPARING = _rooted("prefer than rather instead better")
_ALIKE = {
    _root(word): _root(same)
    for pair in listed(
        """bicycle/bike apartment/flat mathematics/maths math/maths scared/afraid movie/film mum/mother mom/mother
    mommy/mother dad/father kid/child children/child feet/foot own/have possess/have begin/start began/start
    started/start neighbor/neighbour coworker/colleague quit/stop color/colour favorite/favourite
    grandma/grandmother grandpa/grandfather automobile/car telephone/phone television/tv
    organisation/organization centre/center purchase/buy bought/buy purchased/buy enjoy/like physician/doctor
    practise/practice"""
    )
    for word, same in [pair.split("/")]
}
_PHRASES = (
    (re.compile(r"\b(?:gave|gives|give|given) up\b", re.IGNORECASE), "stop"),
    (re.compile(r"\b(wakes|gets|woke|got|getting|waking) up\b", re.IGNORECASE), "rise"),
    (re.compile(r"\bused to\b", re.IGNORECASE), "formerly"),
    (re.compile(r"\b(?:was|were|is|are) ([a-z]+(?:ed|en)|used) by\b", re.IGNORECASE), r"\1"),
    (re.compile(r"\bin the year\b", re.IGNORECASE), "in"),
    (re.compile(r"\b(?:would like|wants?|wishes)\b", re.IGNORECASE), "want"),
    (re.compile(r"\bjazz music\b", re.IGNORECASE), "jazz"),
    (re.compile(r"\bdislikes?\b", re.IGNORECASE), "not like"),
    (re.compile("€"), " euro "),
    (re.compile(r"\$"), " dollar "),
    (re.compile("£"), " pound "),
    (re.compile("%"), " percent "),
    (re.compile(r"n['’]t\b"), " not"),
    (re.compile(r"\bcannot\b", re.IGNORECASE), "can not"),
    (re.compile(r"(?<=\w)-(?=\w)"), " "),
)
_LIGHT = _rooted(
    """the a an be is are am of to that which who it really very currently also just so too quite have has do does
    called named call name each every and"""
)


@dataclass(frozen=True)
class _Particulars:
    """What a text says exactly: figures, names in their order, denial, moments and measures, and who is meant."""

    text: str

    @cached_property
    def plain(self) -> str:
        """The text with phrases that have one meaning in one form."""
        plain = self.text
        for pattern, put in _PHRASES:
            plain = pattern.sub(put, plain)
        return plain

    @cached_property
    def words(self) -> list[str]:
        """All words in their order, as stems of one spelling."""
        lowered = (word.lower().replace("’", "'").removesuffix("'s").rstrip("'") for word in _WORD.findall(self.plain))
        return [_TENS.get(word) or _ALIKE.get(_root(word), _root(word)) for word in lowered]

    @cached_property
    def raw(self) -> list[str]:
        return [word.lower().replace("’", "'").removesuffix("'s") for word in _WORD.findall(self.plain)]

    @cached_property
    def figures(self) -> Counter[str]:
        return Counter(word for word in self.words if word.isdigit() or word in _ORDINALS)

    @cached_property
    def codes(self) -> set[str]:
        """What is made of letters and figures, in lower case: "2b"."""
        return {code.casefold() for code in _CODE.findall(self.text)}

    @cached_property
    def names(self) -> list[str]:
        found = []
        for match in _CAPITALISED.finditer(self.text):
            word = match.group().replace("’", "'").removesuffix("'s")
            begins = not self.text[: match.start()].strip() or self.text[: match.start()].rstrip()[-1] in ".!?:"
            if word[0].isupper() and not (begins and word.lower() in _STARTERS):
                found.append(word.casefold())
        return list(dict.fromkeys(found))

    @cached_property
    def told(self) -> list[str]:
        """Its words as they stand, each once: where it comes first."""
        return list(dict.fromkeys(self.raw))

    @cached_property
    def denied(self) -> int:
        return sum(word in _DENYING for word in self.words)

    @cached_property
    def measures(self) -> set[str]:
        """What figures count or measure: the word after each, whatever it is."""
        after = zip(self.words, self.words[1:], strict=False)
        return {_SAME_UNITS.get(word, word) for figure, word in after if figure.isdigit() and word not in _LIGHT}

    @cached_property
    def qualified(self) -> set[str]:
        """What it says of whether it is so: that it may be, is wished, or is one of two."""
        return {_QUALIFYING[word] for word in self.words if word in _QUALIFYING}

    @cached_property
    def telling(self) -> list[str]:
        """The words that carry something and deny nothing, each once: where it comes first."""
        return list(dict.fromkeys(word for word in self.words if word not in _LIGHT and word not in _DENYING))

    def among(self, table: frozenset[str]) -> set[str]:
        """Which words of a table stand in it."""
        return {_SAME_UNITS.get(word, word) for word in self.words if word in table}


def may_be_one(kept: str, dropped: str) -> bool:
    """Whether nothing that is said exactly keeps two texts apart, if ``kept`` is to stand for both.

    Every figure, name, moment and measure of the dropped one has to be in the kept one, both deny alike, tell of one
    time and are about the same people. Names in another order are left to the grammar.
    """
    is_now = has_all_particulars(kept, dropped) and _tells_of_past(kept) == _tells_of_past(dropped)
    return is_now or same_gist(Gist(kept), Gist(dropped))


def _tells_of_past(text: str) -> bool:
    """Whether a text tells of what was; of one without a subject ("Owned two violins.") its user is the subject."""
    gist = Gist(text)
    return gist.is_past if gist.doers else Gist(f"The user {text[:1].lower()}{text[1:]}").is_past


def has_all_particulars(kept: str, dropped: str) -> bool:
    """The same without a look at what the words mean, which takes no parsing of most texts."""
    one, other = _Particulars(kept), _Particulars(dropped)
    if other.figures != one.figures or one.denied != other.denied or one.codes != other.codes:
        return False
    known = {*one.names, *one.raw}
    if any(name not in known and (name not in _NAMED_DATES or _root(name) not in one.words) for name in other.names):
        return False
    if _who(one) != _who(other) or other.among(_DATES) - one.among(_DATES):
        return False
    if _is_measured_otherwise(one, other):
        return False
    if one.qualified != other.qualified or _is_narrower(one, other) or _opposed(one, other):
        return False
    return _same_order(one, other) or compare(one.text, other.text) == "same"


def _is_measured_otherwise(one: _Particulars, other: _Particulars) -> bool:
    """Whether the dropped one has a measure that the kept one lacks; beside a figure, also the other way round."""
    if other.among(_UNITS) - one.among(_UNITS) or (other.figures and one.among(_UNITS) - other.among(_UNITS)):
        return True
    return bool(other.measures - {_SAME_UNITS.get(word, word) for word in one.words})


def _is_narrower(one: _Particulars, other: _Particulars) -> bool:
    """Whether words of one alone, or the order of words, change what is denied or compared.

    Where something is denied a word more says less: "eats no red meat". "Prefers tea to coffee" goes by the order.
    """
    if one.denied and (set(one.telling) < set(other.telling) or set(other.telling) < set(one.telling)):
        return True
    common = set(one.telling) & set(other.telling)
    ordered = [[word for word in each.telling if word in common] for each in (one, other)]
    return not _COMPARING.isdisjoint(common) and ordered[0] != ordered[1]


_OF_TWO_MEANINGS = frozenset({"nanny"})
"""Words for people that mean another one to some: a grandmother, or whoever minds the child."""


def _who(text: _Particulars) -> set[str]:
    return {word for word in text.words if word in _PEOPLE} | _OF_TWO_MEANINGS.intersection(text.raw)


def _same_order(one: _Particulars, other: _Particulars) -> bool:
    common = {*one.names, *_who(one), "user"} & {*other.names, *_who(other), "user"}
    return [word for word in one.told if word in common] == [word for word in other.told if word in common]


def _opposed(one: _Particulars, other: _Particulars) -> bool:
    """Whether a word of one is the opposite of a word of the other, by a prefix or as the table says."""
    only, over = {*one.raw} - {*other.raw}, {*other.raw} - {*one.raw}
    if not _OPPOSITES.isdisjoint(product(only, over)):
        return True
    if not _OPPOSITE_ROOTS.isdisjoint(product({*one.words} - {*other.words}, {*other.words} - {*one.words})):
        return True
    return any(
        first != second and first in {f"{prefix}{second}" for prefix in _PREFIXES}
        for words, others in ((only, over), (over, only))
        for first in words
        for second in others
    )


def says_the_same(kept: str, dropped: str) -> bool:
    """Whether two texts say one thing twice, as far as rules can tell: by their words, or by their grammar."""
    one, other = Gist(kept), Gist(dropped)
    if same_gist(one, other):
        return True
    is_one = one.when == other.when and has_all_particulars(kept, dropped)
    return is_one and compare(kept, dropped) == "same"


def is_worth_asking(one: str, other: str) -> bool:
    """Whether two near texts may say the same: they share words, or differ in a figure only."""
    return shared_words(one, other) >= ENOUGH_SHARED or _is_numeric_step(one, other)


def _is_numeric_step(one: str, other: str) -> bool:
    first, second = _Particulars(one).words, _Particulars(other).words
    return first != second and [each for each in first if not each.isdigit()] == [
        each for each in second if not each.isdigit()
    ]


def verdict_of_rules(kept: str, dropped: str) -> Comparison:
    """What two memories are to each other without a model."""
    if says_the_same(kept, dropped):
        return "same"
    found = compare(dropped, kept)
    return "different" if found == "same" else found
