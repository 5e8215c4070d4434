"""Rules on statements worded by an agent or a model: one thing about somebody, understandable without context.

Each rule has a message that the writer can act on. The person's own words are not checked. No database.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import regex
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from journal.exceptions import Gated
from language.reading.words import KIN
from retrieval.text import SIMPLE, detect_config

from .form import LONGEST, LONGEST_EXTRACTED, check_form, check_third_person

MOST_SENTENCES = 2

_READ_AS_ENGLISH = frozenset({"english", SIMPLE})
"""Detected languages that the English rules apply to. Short English texts are often detected as SIMPLE."""

_QUOTED = re.compile(r"\"[^\"]+\"|“[^”]*”|«[^»]*»|`[^`]*`")
_LETTERS = re.compile(r"[^\W_]")
_NOTHING = re.compile(
    r"\W*(?:none|null|nil|n/?a|nan|undefined|unknown|empty|nothing(?: new)?|string|no information|not (?:applicable|"
    r"specified|provided|available|mentioned)|(?:there (?:is|was) )?(?:no|nothing)\b.{0,30}"
    r"\b(?:to (?:remember|store|note)|(?:was |were )?found|information|facts|memories))(?:\W+(?:null|n/?a|none))*\W*",
    re.IGNORECASE,
)
_QUESTION_MARK = re.compile(r"[?？؟⁇][\s\"'”»)\]]*$")
_INVERTED = re.compile(
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|would|should|shall|may|might) "
    r"(?:the|there|an?|user|he|she|it|they|this|that|[a-z]+['’]s)\b"
    r"|(?:wh(?:at|o|ere|en|y|ich|ose)|how)\b.{0,40}?\b(?:is|are|was|were|do|does|did|has|have|can|will|would|should) "
    r"(?:the|user)\b(?!.*\b(?:is|are|was|were|remains|matters|depends)\b)",
    re.IGNORECASE,
)
_WHETHER = re.compile(r"whether\b[^,]*$", re.IGNORECASE)
_TURNS_ON = re.compile(r"\b(?:is|was|matters|depends|remains|worries) (?!.*\bor\b)", re.IGNORECASE)
_INSIDE_QUESTION = re.compile(r"\bprefers? (?:what|which) kind\b", re.IGNORECASE)
_LEADING = (
    r"(?:(?:yesterday|today|apparently|currently|also|now|sometimes|usually|then|later|in [A-Z]\w+|on [A-Z]\w+),? )?"
)
_PRONOUN_FIRST = re.compile(
    rf"{_LEADING}(?:(?:he|she|they)(?:['’](?:s|d|ll|ve|re))?|his|her|hers|him|them|their|theirs|its|these|those|"
    r"er|sie|elle|ella|él|hij|zij|lui|lei)\b",
    re.IGNORECASE,
)
_IT_FIRST = re.compile(r"(?:it|this|that)(?:['’]s)?\b", re.IGNORECASE)
_IT_OF_NOTHING = re.compile(
    r"it(?:['’]s(?: been)?| (?:is|was|has been|seems|took|takes|would be|will be|matters|helps))\b"
    r".*\b(?:user|that|to|for|whether)\b"
    r"|(?:this|that) (?:\w+ )?(?:year|month|week|summer|winter|spring|autumn|morning|evening|day|is|was)?"
    r" ?[\w ]*\buser\b",
    re.IGNORECASE,
)
_BY_ITSELF = re.compile(r"that is (?:why|how|when)\b|it is called\b|this is\b|that was\b", re.IGNORECASE)
_PREFACE = re.compile(
    r"(?:sure|certainly|of course|okay|ok|got it|sorry|thank(?:s| you)|absolutely|alright|understood)\b(?!-)"
    r"|great(?:\s*[!,.:]| (?:job|question|news|point|idea|to|that)\b)"
    r"|(?:here(?:['’]s| is| are)|based on|according to|in) (?:the |this )?"
    r"(?:memor|conversation|transcript|talk|chat|message|what)"
    r"|here(?:['’]s| is| are) [^.]{1,80}:"
    r"|(?:based on|according to|given|as (?:mentioned|noted|stated|discussed|said|described)(?: in)?) (?:the )?"
    r"(?:above|below|before|earlier|previous(?:ly)?|following)\b"
    r"|(?:furthermore|moreover|additionally|in (?:summary|conclusion)|to (?:summari[sz]e|conclude|sum up))\b,"
    r"|the (?:conversation|chat|dialogue)\b|(?:please )?remember (?:that|to)\b|please\b"
    r"|(?:noted|memory (?:updated|saved|added|stored))\b",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"\b(?:let (?:me|us) know|told (?:me|us)"
    r"|user is (?:now |currently |just )?(?:talking|chatting|asking) (?:about|for|how|if)"
    r"|in (?:this|the (?:current|present|above)) (?:conversation|chat|dialogue|session))\b(?!['’])",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"(?:the )?user (?:said|says|answered|replied) (?:yes|no|ok|okay|so|that|it|nothing)\W*", re.IGNORECASE
)
_TELLS_NOTHING = re.compile(
    r"(?:the )?user (?:mentioned|mentions|sa(?:id|ys)|talk(?:ed|s) about|ask(?:ed|s)(?: about)?) (?:(?:some|any)thing"
    r"(?: about [\w ]+)?|things|stuff|hello|hi|hey|(?:good)?bye|thanks|thank you|good (?:morning|evening|night))\W*",
    re.IGNORECASE,
)
_KNOWN = r"(?:known|clear|specified|provided|given|mentioned|stated|disclosed|available)"
_MISSING = re.compile(
    r"(?:there (?:is|was) )?no (?:information|mention|details?|data|indication)\b.*"
    rf"|(?:nothing (?:is|was) |it (?:is|was) (?:un|not )){_KNOWN} (?:about|of|where|what|when|who|whether|if|how)\b.*"
    r"|(?:the )?user (?:did not|didn['’]t|has not|hasn['’]t) (?:sa(?:y|id)|mention(?:ed)?|specif(?:y|ied)|stated?"
    r"|disclosed?) (?:where|what|when|who|how|which|whether|if|any)\b(?!.* to [A-Z]).*"
    r"|(?:the )?user['’]s (?P<what>[\w ]{2,40}?) (?:is|are|was|were|(?:has|have) been)"
    rf" (?:un(?:known|clear|specified)|not(?: yet)? {_KNOWN})\W*",
    re.IGNORECASE,
)
_OF_NOTHING_NAMED = re.compile(
    r"(?:[Tt]he )?[Uu]ser(?:['’]s [a-z]+(?: [a-z]+)?)? (?:(?!(?:and|or|but|an?|the|that|when|how|if|some|any|no|his"
    r"|her|their|its)\b)[a-z'’]+ ){1,3}?(?:it|this|that|these|those|them|him|her|there)"
    r"(?: (?:(?:every|each) (?:day|night|morning|evening|week(?:end)?|month|year|time|\w+day)|all the time|a lot|too"
    r"|also|as well|often|daily|weekly|again|now|very much|most|best|more))?\W*"
)
"""Only the user, and a pronoun: "The user does that every day."."""
_EITHER_OF_TWO = re.compile(
    r"(?:When|After|Before|While|As|Since|Because|If) [^,]*\b[A-Z]\w+ [^,]*\b[A-Z]\w+[^,]*, (?:s?he) .*\b(?:him|her)\b"
)
_TO_SOMEBODY = re.compile(r"\b(?:to|for|with) (?:him|her|them)\W*$", re.IGNORECASE)
_LABEL = re.compile(
    r"(?:content|fact|facts|memory|memories|output|summary|note|answer|result|category|statement|insight|user_\w+|\w+_\w+)"
    r"\s*[:=(]",
    re.IGNORECASE,
)
_MARKUP = re.compile(
    r"^\s*[\[{(]?\s*['{\[]\w*|^\s*[\[{(]\s*\"|^\s*\"[^\"]*(?:\"\W*)?$|^\s*\"[^\"]*\"\s*[:,]"
    r"|```|</?[a-z][\w|]*>|<\|.*?\|>|\*\*[^*]+\*\*|^#{1,6} |\{\{.*?\}\}"
    r"|\\n|\\u[0-9a-f]{4}|\[\d{1,3}\]|\((?:confidence|certainty|probability|score|importance)\s*[:=]?\s*[\d.]+ ?%?\)"
)
_PLACEHOLDER = re.compile(
    r"\[(?![a-z ]+ removed\])[A-Za-z][A-Za-z_ ]*\]|[{<][A-Za-z][A-Za-z_ ]*[}>]|\bT(?:ODO|BD)\b|\blorem ipsum\b"
    r"|(?<!\S)[a-z]+ X{3,}\W*$|\bXX+[/.-]XX+\b|_{3,}"
    r"|\b(?:is|are|email|named?) (?:undefined|NaN|null|None)\b"
)
_CUT = re.compile(
    r"^(?:the )?user(?:['’]s)?\W*$|"
    r"(?:[,:\-–]|\.\.\.|…|(?<!['’-])\b(?:and|or|but|the|(?-i:a)|an|in|at|of|to|with|from|by|for|is|are|was|called|named|likes|loves|hates|"
    r"has|prefers|wants|because))[\s.]*$",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\b(?:(?:that|which|what|who|whom|whose|where|how|than|as) [^.,;:]*\w|[Ss]?he|they|it)(?: [^.,;:]*)? \w+[.!]$"
    r"|\b(?:back|moved?|moves|settle[sd]|gave|gives|drops?|dropped|stops?|stopped|logs?|logged) (?:in|by)[.!]$",
    re.IGNORECASE,
)
"""How sentences end that a preposition or a verb may close: "desserts that Ana loves.", "has moved back in."."""
_REPEATED = re.compile(r"\b(\w+(?: \w+)?)(?: \1\b){2,}|(\w)\2{9,}", re.IGNORECASE)
_EMOJI = regex.compile(r"[\p{Emoji_Presentation}❤]|\p{Emoji}\N{VARIATION SELECTOR-16}")
_OF_EMOJI = re.compile(r"\b(?:(?:emoji|emoticon|smiley|symbol|sticker|sign)s?|react(?:s|ed|ions?)?)\b", re.IGNORECASE)
_SHOUTED = re.compile(r"[!¡！？?‼]{2}")
_LETTERED = re.compile(r"\(?A[.)]\s.*[.;,]\s+\(?B[.)]\s|\(?a[.)]\s.*[.;,]\s+\(?b[.)]\s")
_NUMBERED = re.compile(r"\(?\d{1,2}[.)]\s+(?:the )?user\b", re.IGNORECASE)
_BULLET = re.compile(r"(?:^|\s)(?:[-*•]|\(?\d{1,2}[.)])\s+(?=\S)")
_FIELDS = re.compile(r"\b[A-Z][a-z]+: [^,|;]+[|,;] [A-Z][a-z]+: ")
_SENTENCES = re.compile(r"(?<=[^\W\d_]{2})[.!](?=\s+[^\W\d_a-z]|\s*$)|[。！]")
_TITLES = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|St|Prof|No|vs|etc|Jr|Sr)\.", re.IGNORECASE)
_SUBJECTS = re.compile(r"(?:^|[,;] (?:and )?)(?:the user(?:['’]s)?|user(?:['’]s)?)\b", re.IGNORECASE)
_PREDICATES = re.compile(
    r"(?:(?<=user )|, (?:and )?| and )(?:is|was|has|likes|loves|hates|works|lives|drives|owns|plays|studies|speaks|"
    r"wants|prefers|enjoys|keeps)\b",
    re.IGNORECASE,
)
_FEW = 4
_MOST_SUBJECTS = 2
_MOST_PARTS = 2
_MOST_PREDICATES = 3
_SHORTEST_STEP = 2
_PARTS_NO_WORDS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]{3}")
"""Some letters of scripts that write no blanks between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""
_ASIDE = 2
_STEP_MARKS = re.compile(r"^\s*(?:(?:\d+[.)]|[-–—*•·+])(?:\s+|$))+")
_NUMBER_INSIDE = re.compile(r"\s\d{1,2}[.)]\s+[^\W\d_]|[.!]\s\d{1,2}[.)]$")
_NO_IMPERATIVE = re.compile(
    r"(?:the|a|an|user|users|he|she|it|they|i|you|we|this|that|these|those|there|his|her|their|its|my|your|our|is|are|"
    r"was|were|has|have had|what|who|why|maybe|perhaps|likes?|prefers?|wants?)\b|\w{3,}ing\b(?! )"
    r"|\w+ (?:is|are|was|were|has)\b"
    r"|\w+ed\b(?<!eed)(?<!mbed) ",
    re.IGNORECASE,
)
_ABBREVIATED = re.compile(r"[a-z]+[A-Z]")


def check_statement(text: str, *, longest: int = LONGEST) -> str:
    """Return a statement in its stored form. Raises Gated (422) with what is wrong with it.

    In any language, it refuses a wrong length, empty phrases, questions, lists, markup and placeholders. In English
    also the first and second person, an opening label or pronoun, several statements, and incomplete sentences.
    """
    text = check_form(text, longest=longest)
    plain = _QUOTED.sub("Quoted", text)
    for is_wrong, reason in _ANY_LANGUAGE:
        if is_wrong(plain if reason is not _MARKED_UP else text):
            raise Gated(_(reason))
    if detect_config(text) in _READ_AS_ENGLISH:
        check_third_person(text)
        for is_wrong, reason in _ENGLISH:
            if is_wrong(plain):
                raise Gated(_(reason))
    return text


def check_steps(text: str, *, longest: int) -> str:
    """Return steps in their stored form: "1. Open the valve. 2. …", numbered from 1, in the imperative.

    Raises Gated (422) with what is wrong. In English, a clause may come before the imperative ("If it leaks, …").
    """
    text = check_form(text, longest=longest)
    steps = steps_of(text)
    if not steps:
        raise Gated(_('Steps are numbered from 1: "1. Open the valve. 2. Wait a minute."'))
    for number, step in enumerate(steps, start=1):
        if len(step.split()) < _SHORTEST_STEP and not _PARTS_NO_WORDS.search(step):
            raise Gated(
                _('Step %(number)s is one word: say what to do with what, as in "Open the valve".') % {"number": number}
            )
        if len(step) > LONGEST_EXTRACTED or _REPEATED.search(step):
            raise Gated(
                _(
                    "Step %(number)s is no step: say in a sentence of at most %(longest_extracted)s characters "
                    "what to do."
                )
                % {"number": number, "longest_extracted": LONGEST_EXTRACTED}
            )
        if _is_question(step):
            raise Gated(_("Step %(number)s is a question: say what to do.") % {"number": number})
        if detect_config(text) in _READ_AS_ENGLISH and _NO_IMPERATIVE.match(step):
            raise Gated(
                _('Step %(number)s does not say what to do: begin with a verb, as in "Open the valve".')
                % {"number": number}
            )
    return text


def steps_of(text: str) -> list[str]:
    """Return the steps of a text numbered from 1, without their numbers; empty for any other text."""
    steps: list[str] = []
    rest = text.strip()
    while rest:
        begun = re.match(rf"{len(steps) + 1}[.)]\s+", rest)
        if begun is None:
            return []
        ends = re.search(rf"\s(?={len(steps) + 2}[.)]\s)", rest[begun.end() :])
        steps.append(rest[begun.end() :][: ends.start() if ends else None].strip())
        rest = rest[begun.end() :][ends.start() :].strip() if ends else ""
    return [] if any(_NUMBER_INSIDE.search(step) for step in steps) else steps


def numbered(steps: Sequence[str]) -> str:
    """Join steps to one text, numbered from 1, without numbers and bullets of their own. Empty ones are left out."""
    bare = filter(None, (" ".join(_STEP_MARKS.sub("", step).split()) for step in steps))
    return " ".join(f"{number}. {step}" for number, step in enumerate(bare, start=1))


def check_extracted(text: str) -> str:
    """``check_statement`` for what extraction, insights and merges write: at most 280 characters."""
    return check_statement(text, longest=LONGEST_EXTRACTED)


def _says_nothing(text: str) -> bool:
    return not _LETTERS.search(text) or bool(_NOTHING.fullmatch(text))


def _is_question(text: str) -> bool:
    return bool(_QUESTION_MARK.search(text))


def _asks(text: str) -> bool:
    return (bool(_INVERTED.match(text)) and not text.endswith(".")) or bool(
        _INSIDE_QUESTION.search(text) or (_WHETHER.match(text) and not _TURNS_ON.search(text))
    )


def _is_by_pronoun(text: str) -> bool:
    if _PRONOUN_FIRST.match(text) or _BY_ITSELF.match(text):
        return True
    if not _IT_FIRST.match(text):
        return False
    return not _IT_OF_NOTHING.match(text) or (bool(_TO_SOMEBODY.search(text)) and "user" not in text.lower())


def _tells_nothing(text: str) -> bool:
    if _ANSWER.fullmatch(text) or _TELLS_NOTHING.fullmatch(text):
        return True
    missing = _MISSING.fullmatch(text)
    # A father can be unknown.
    return missing is not None and KIN.keys().isdisjoint((missing["what"] or "").casefold().split())


def _is_of_nothing_named(text: str) -> bool:
    return bool(_OF_NOTHING_NAMED.fullmatch(text) or _EITHER_OF_TWO.match(text))


def _is_several(text: str) -> bool:
    whole = _TITLES.sub("Title", text)
    parts = [part for part in re.split(r";|\|", whole) if part.strip()]
    return (
        len(_SENTENCES.findall(whole.rstrip(".! ") + ".")) > MOST_SENTENCES
        or len(parts) > _MOST_PARTS
        or len(_SUBJECTS.findall(whole)) > _MOST_SUBJECTS
        or len(_PREDICATES.findall(whole)) > _MOST_PREDICATES
    )


def _is_adorned(text: str) -> bool:
    """Whether it holds emoji and does not speak of any."""
    return bool(_EMOJI.search(text)) and not _OF_EMOJI.search(text)


def _breaks_off(text: str) -> bool:
    cut = _CUT.search(text)
    return cut is not None and not (cut[0][0].isalpha() and _WHOLE.search(text))


def _is_list(text: str) -> bool:
    if re.match(r"\s*[-*•]\s", text) or _LETTERED.match(text) or _NUMBERED.match(text):
        return True
    if text.count(" - ") == _ASIDE and ":" not in text:  # "The user rests - five minutes - after each hour."
        text = text.replace(" - ", " ")
    return len(_BULLET.findall(text)) > 1 or bool(_FIELDS.search(text))


def _is_fragment(text: str) -> bool:
    """Whether it is a few words that begin in lower case, except with a name such as iPhone."""
    words = text.split()
    return len(words) < _FEW and words[0][0].islower() and words[0].isascii() and not _ABBREVIATED.match(words[0])


_MARKED_UP = gettext_noop("The text holds markup or data: write it as one plain sentence.")
_Rule = tuple[Callable[[str], object], str]
_ANY_LANGUAGE: tuple[_Rule, ...] = (
    (_says_nothing, gettext_noop("The text says nothing.")),
    (_MARKUP.search, _MARKED_UP),
    (_PLACEHOLDER.search, gettext_noop("The text holds a placeholder that was not filled in.")),
    (_is_question, gettext_noop("The text is a question: write what is known as a statement.")),
    (_is_list, gettext_noop("The text is a list: write each thing as a statement of its own.")),
    (_REPEATED.search, gettext_noop("The text repeats itself.")),
    (_is_adorned, gettext_noop("The text holds emoji: say it in words.")),
    (_SHOUTED.search, gettext_noop("The text shouts: end it with one full stop.")),
    (
        lambda text: detect_config(text) not in _READ_AS_ENGLISH and _PRONOUN_FIRST.match(text),
        gettext_noop("The text begins with a pronoun: say who or what it is about."),
    ),
)
_ENGLISH: tuple[_Rule, ...] = (
    (_LABEL.match, gettext_noop("The text begins with a label: write the statement alone.")),
    (_asks, gettext_noop("The text is a question: write what is known as a statement.")),
    (_is_by_pronoun, gettext_noop("The text begins with a pronoun: say who or what it is about.")),
    (_PREFACE.match, gettext_noop("The text speaks about the conversation: write the statement alone.")),
    (_TOLD.search, gettext_noop("The text speaks about the conversation: write the statement alone.")),
    (_is_several, gettext_noop("The text says several things: write each as a statement of its own.")),
    (_tells_nothing, gettext_noop("The text says nothing.")),
    (_is_of_nothing_named, gettext_noop("The text has a pronoun: say whom or what it stands for.")),
    (_breaks_off, gettext_noop("The text breaks off.")),
    (_is_fragment, gettext_noop("The text is a part of a sentence: say who or what it is about.")),
)
