"""Verb forms of English: which form a word is, its base form, and the third person of a base form."""

from __future__ import annotations

from typing import NamedTuple

from language.offline.lexicon.words import listed

# base, past and past participle where they differ from the regular ones.
_IRREGULAR = """
be was been/arise arose arisen/awake awoke awoken/bear bore born/beat beat beaten/become became become/
begin began begun/bend bent bent/bet bet bet/bind bound bound/bite bit bitten/bleed bled bled/blow blew blown/
break broke broken/breed bred bred/bring brought brought/build built built/burn burnt burnt/buy bought bought/
catch caught caught/choose chose chosen/come came come/cost cost cost/creep crept crept/cut cut cut/
deal dealt dealt/dig dug dug/do did done/draw drew drawn/dream dreamt dreamt/drink drank drunk/
drive drove driven/eat ate eaten/fall fell fallen/feed fed fed/feel felt felt/fight fought fought/
find found found/flee fled fled/fly flew flown/forbid forbade forbidden/forget forgot forgotten/
forgive forgave forgiven/freeze froze frozen/get got got/give gave given/go went gone/grind ground ground/
grow grew grown/hang hung hung/have had had/hear heard heard/hide hid hidden/hit hit hit/hold held held/
hurt hurt hurt/keep kept kept/kneel knelt knelt/knit knit knit/know knew known/lay laid laid/lead led led/
lean leant leant/learn learnt learnt/leave left left/lend lent lent/let let let/lie lay lain/light lit lit/
lose lost lost/make made made/mean meant meant/meet met met/pay paid paid/put put put/quit quit quit/
read read read/ride rode ridden/ring rang rung/rise rose risen/run ran run/say said said/see saw seen/
seek sought sought/sell sold sold/send sent sent/set set set/sew sewed sewn/shake shook shaken/
shine shone shone/shoot shot shot/show showed shown/shut shut shut/sing sang sung/sink sank sunk/sit sat sat/
sleep slept slept/slide slid slid/sow sowed sown/smell smelt smelt/speak spoke spoken/spell spelt spelt/
spend spent spent/spin spun spun/split split split/spoil spoilt spoilt/spread spread spread/stand stood stood/
steal stole stolen/stick stuck stuck/sting stung stung/stink stank stunk/strike struck struck/
strive strove striven/swear swore sworn/sweep swept swept/swim swam swum/swing swung swung/take took taken/
teach taught taught/tear tore torn/tell told told/think thought thought/throw threw thrown/
undergo underwent undergone/understand understood understood/upset upset upset/wake woke woken/wear wore worn/
weave wove woven/weep wept wept/win won won/wind wound wound/withdraw withdrew withdrawn/write wrote written/
overcome overcame overcome/outlive outlived outlived/raise raised raised
"""

# These have a regular form beside the irregular one.
_ALSO_REGULAR = listed("burn dream knit lean learn smell spell spoil light wake")

_REGULAR = """
abandon accept accompany ache achieve act add admire admit adopt adore advise agree aim allow amaze announce annoy
answer apologize appear appreciate argue arrange arrive ask attend attract avoid bake bathe battle believe belong
boil borrow bother bowl breathe brew brush bury call camp care carry carve celebrate challenge change chat check
cheer cherish chop clean climb close coach code collect comfort commute compete complain complete compose conduct
consider construct contact contribute cook cope correct count cover craft create crochet cross cry cuddle cycle
dance date decide declare decorate dedicate defend deliver depend describe deserve design despise destroy detest
develop devote die direct disagree disappear discover discuss dislike divorce donate doubt drag dress drop earn edit
embarrass embrace embroider emigrate employ encourage end enjoy enlist ensure enter entertain escape establish
exercise exist expect experience explain explore express face fail farm fast favour favor fear file fill finish fish
fix follow fool force forage forward foster found frame fund garden gather golf graduate greet guess guide hate haul
head heal help hike hire honour honor hope host hug hum hunt identify ignore illustrate imagine immigrate import
impress improve inherit insist inspire install intend introduce invent invest invite iron jog join joke juggle jump
kayak kick kill kiss knock label lack last laugh launch lecture like limp listen live loathe lock look love maintain
major manage march mark marry master matter meditate mend mentor migrate mind miss mix move mow name need nurse obey
object observe offer open operate order organise organize outsource own pack paint pass perform persuade photograph
pick plan plant play please plough polish post pour practice practise praise pray preach prefer prepare present
preserve pretend print produce promise promote protect prove publish pull punish push quilt race raise reach realise
realize receive recite recommend record recover refuse regret relate relax rely remain remarry remember remind
renovate rent repair repeat replace rescue research reside resign respect rest restore restart retire return roam
rock rule sail save scold scream seem serve settle share shave shop shout ski skate sketch skip slice smile smoke
snore solve spark specialise specialize spoil sponsor start stay step stitch stop store stretch struggle study style
succeed suffer suggest supply support suppose surf surprise survive swap switch talk tap taste tend thank tidy tie
touch track trade train translate travel treasure treat trust try tune turn type use vacation value visit volunteer
vote wait walk want wash waste watch water weigh welcome whistle whittle wish wonder work worry worship wrap yell
climb dye dabble decline sign snack stream swear tutor upgrade bike blog juggle knit relocate rehearse reuse resent
scuba-dive sightsee babysit reply respond smell mention claim chase
"""

_DOUBLED = listed(
    "admit bet chat chop drag drop drum dig fit forget fret get grab hit hop hug hum jog knit knot mop nap pat permit "
    "plan plot prefer put quit refer regret rub run sail set shop shut sip sit skip slip spin split stop swim swap tap "
    "transfer travel trip wed win whip wrap zip cut let begin"
) - listed("sail")
_KEEP_E_ING = listed("dye see flee agree sightsee be")


class VerbForm(NamedTuple):
    """A word read as a verb: its base form and the forms it can be (base, s, past, part, ing)."""

    lemma: str
    kinds: frozenset[str]


def third_person(base: str) -> str:
    """Return the third person singular of a base form: ``carry`` → ``carries``."""
    special = {"be": "is", "am": "is", "are": "is", "have": "has", "do": "does", "go": "goes"}.get(base)
    if special:
        return special
    if base.endswith(("s", "sh", "ch", "x", "z", "o")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return base[:-1] + "ied"
    return base + (base[-1] if base in _DOUBLED else "") + "ed"


def gerund(base: str) -> str:
    """Return the -ing form of a base form: ``bake`` → ``baking``."""
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and base not in _KEEP_E_ING:
        return base[:-1] + "ing"
    return base + (base[-1] if base in _DOUBLED else "") + "ing"


def _table() -> dict[str, VerbForm]:
    found: dict[str, tuple[str, set[str]]] = {}

    def add(form: str, lemma: str, kind: str) -> None:
        # The first verb to claim a form keeps it: "found" is the past of "find" before it is the base "found".
        known = found.setdefault(form, (lemma, set()))
        if known[0] == lemma:
            known[1].add(kind)

    for entry in _IRREGULAR.replace("\n", "").split("/"):
        base, past, participle = entry.split()
        add(base, base, "base")
        add(third_person(base), base, "s")
        add(gerund(base), base, "ing")
        add(past, base, "past")
        add(participle, base, "part")
        if base in _ALSO_REGULAR:
            add(_past(base), base, "past")
            add(_past(base), base, "part")
    for extra, lemma, kind in (
        ("am", "be", "base"),
        ("are", "be", "base"),
        ("were", "be", "past"),
        ("gotten", "get", "part"),
        ("sown", "sow", "part"),
        ("showed", "show", "part"),
        ("born", "bear", "part"),
        ("travelled", "travel", "past"),
        ("travelling", "travel", "ing"),
        ("traveled", "travel", "past"),
        ("traveling", "travel", "ing"),
    ):
        add(extra, lemma, kind)
    for base in _REGULAR.split():
        add(base, base, "base")
        add(third_person(base), base, "s")
        add(gerund(base), base, "ing")
        add(_past(base), base, "past")
        add(_past(base), base, "part")
    return {form: VerbForm(lemma, frozenset(kinds)) for form, (lemma, kinds) in found.items()}


FORMS: dict[str, VerbForm] = _table()

_NOT_PAST = listed(
    "need feed bleed breed speed seed weed heed exceed proceed succeed embed shed wed bed red shred sled indeed hundred"
)


def verb_form(word: str) -> VerbForm | None:
    """Return how a word reads as a verb, or None when the tables don't know it."""
    return FORMS.get(word)


def is_past(word: str) -> bool:
    """Say whether a word is a past form only, known or by its ending."""
    form = FORMS.get(word)
    if form is not None:
        return "past" in form.kinds and "base" not in form.kinds
    return len(word) > 3 and word.endswith("ed") and word not in _NOT_PAST


def is_base(word: str) -> bool:
    """Say whether a word is the base form of a known verb."""
    form = FORMS.get(word)
    return form is not None and "base" in form.kinds


def is_gerund(word: str) -> bool:
    """Say whether a word is an -ing form of a known verb."""
    form = FORMS.get(word)
    return form is not None and "ing" in form.kinds


def base_of(word: str) -> str:
    """Return the base form of a word if it is a known verb form, else the word without a plural ending."""
    form = FORMS.get(word)
    if form is not None:
        return form.lemma
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
