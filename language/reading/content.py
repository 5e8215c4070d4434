"""The features of a statement for comparison: content words, figures, names, times, polarity, modality, roles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, zip_longest

from .figures import MONTHS, how_often, normalise_figures, ranges
from .lexicon import is_word
from .parse import Parsed, Word, parse
from .related import KIN, SAME_KIN, Part, Token
from .words import listed

LIGHT = listed(
    """the a an be is are am was were been being have has had do does did of that which who whom in on at with by as to
    and 's there it its really very quite just so also currently now already some any their they them together he
    him she her his hers theirs himself herself themselves this these those such what where when how will would one
    part"""
)
"""Function words, ignored in comparison."""
NEGATIONS = listed("non not no never none nobody nothing neither nor without hardly barely rarely seldom cannot")
_SELDOM = listed("hardly barely rarely seldom")
_IMPLICIT_NEGATIONS = listed(
    """quit stop fail hate detest loathe dislike lack avoid refuse reject deny teetotal intolerant intolerance only
    childless unable former unemployed abstain off teetotaller vegetarian vegan distrust
    miss free except sober allergic blind lose drop_out drop abandon cancel decline withdraw"""
)
"""Words that imply a negation: "is teetotal"."""
_NEGATIVE_PREFIX = re.compile(r"(?:un|in|im|dis|non)")
_DAYS = listed(
    """monday tuesday wednesday thursday friday saturday sunday spring summer autumn winter morning afternoon evening
    noon midnight christmas easter weekend today yesterday tomorrow"""
) | set(MONTHS)
TIMES_OF_DAY = listed("morning afternoon evening noon midnight")
_UNITS = listed(
    """second minute hour day week month year metre kilometre mile kilogram gram pound stone euro dollar franc yen litre
    percent inch foot centimetre milligram millilitre kw hp celsius fahrenheit"""
)
_CANONICAL_LEMMAS = {
    "kilometer": "kilometre", "meter": "metre", "liter": "litre", "kilo": "kilogram", "fall": "autumn",
    "night": "evening", "kid": "child", "dad": "father", "mum": "mother", "roommate": "flatmate",
    "housemate": "flatmate",
}  # fmt: skip
_PARENTS = frozenset({"mother", "father"})
_PARTICLES = listed("up away off out down over after by back through aside")
_FREQUENT = r"(?!the |a |his |her |their |church|mosque|bed|school|work)"
_WISHING = re.compile(
    rf"""\b(?:want(?:s|ed)?|hop(?:es?|ing)|wish(?:es)?|would\ (?:like|love)|'d\ (?:like|love)
    |think(?:s|ing)?\ (?:of|about)|consider(?:s|ing)|said\ to|wait(?:s|ing)?\ for|plan(?:s|ning)?|intends?
    |going\ to\ {_FREQUENT}\w+|dream(?:s|ing)?|goal|aims?|tr(?:y|ies|ied|ying)\ to|attempt(?:s|ed)
    |offer(?:s|ed)?\ to|promis(?:es|ed)\ to|about\ to)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_PLANNING = re.compile(
    r"^(?:use|keep|avoid|always|never|do not|please)\b|\b(?:should|please|unwanted|prefers?|suits?|ask(?:s|ed)"
    r"|request(?:s|ed)|due|scheduled|planned|sav(?:es?|ing)"
    r"|likes? (?:\w+ ){1,4}to be)\b",
    re.IGNORECASE,
)
_HEARSAY = re.compile(
    r"\b(?:said|rumou?red|reputed|supposed|alleged|thought|believed) to (?:be|have)\b"
    r"|\b(?:allegedly|supposedly|reportedly)\b",
    re.IGNORECASE,
)
_ROLES = {"nsubj": "subject", "csubj": "subject", "poss": "of", "dative": "to"} | dict.fromkeys(
    ("nsubjpass", "dobj", "attr", "oprd", "acomp"), "object"
)
_AGE = re.compile(
    r"\b(\d{1,3}) years (?:old|of age)\b|\b(?:(?:is|am|was|turned|aged) |age of )(\d{1,3})(?=$|,| and\b| in\b)"
)
_PARTITIVE = re.compile(
    r"\b(?:(?:one|some|most|half) of|half (?:the|his|her|my|their)|(?<!all )\d+ of (?:the|his|her|their) \w+'s)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Content:
    """One statement and its features, computed on first use."""

    text: str

    @cached_property
    def normalised(self) -> str:
        """The text with figures and common paraphrases normalised."""
        return normalise_figures(self.text)

    @cached_property
    def parsed(self) -> Parsed:
        """The parse. Where there is no subject ("Owned two violins"), "the user" is added."""
        found = parse(self.normalised) or Parsed(self.normalised, (), ())
        if any(word.dep in {"nsubj", "nsubjpass", "csubj", "expl"} for word in found.words):
            return found
        return parse(f"The user {self.normalised[:1].lower()}{self.normalised[1:]}") or found

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Its tokens, without punctuation and possessive markers."""
        return tuple(
            self._token(word) for word in self.parsed.words if word.tag != "POS" and re.search(r"\w", word.text)
        )

    def _token(self, word: Word) -> Token:
        low = word.low.removesuffix("'s")
        lemma = word.lemma.lower() if word.lemma.replace("-", "").isalpha() else low
        lemma = SAME_KIN.get(low, SAME_KIN.get(lemma, lemma))
        lemma = _CANONICAL_LEMMAS.get(lemma, lemma) if word.pos != "VERB" else lemma
        if low.rstrip("s") in _DAYS and (low != "may" or word.text == "May") and word.pos != "VERB":
            lemma = low.rstrip("s")
        elif lemma == "may":
            lemma = "might"
        part = _PARTS.get(word.pos, "other")
        if re.search(r"\d", low):
            part = "figure"
        elif self._is_name(word, low, lemma):
            part, lemma = "name", low
        return Token(word.index, low, lemma, part, word.tag)

    def _is_name(self, word: Word, low: str, lemma: str) -> bool:
        if not word.text[0].isupper() or low in {"user", "users", "the", "i", "tv"} or lemma in _DAYS or lemma in KIN:
            return False
        before = self.parsed.words[word.index - 1].text if word.index else ""
        if before and before not in {".", '"'}:
            return True
        return word.tag in {"NNP", "NNPS", "NN"} and (
            not (is_word(low) or is_word(low.rstrip("s")) or low in LIGHT) or word.entity == "PERSON"
        )

    @cached_property
    def lower_tokens(self) -> frozenset[str]:
        """Its tokens in lower case."""
        return frozenset(token.low for token in self.tokens)

    @cached_property
    def content_words(self) -> tuple[Token, ...]:
        """Its content words; a phrasal verb is one word."""
        return tuple(self._content_words())

    def _content_words(self) -> Iterator[Token]:
        for at, token in enumerate(self.tokens):
            if token.low in LIGHT or token.lemma in LIGHT or token.low in NEGATIONS or token.part == "preposition":
                continue
            if token.low in {"user", "own"}:
                continue
            after = self.tokens[at + 1].low if at + 1 < len(self.tokens) else ""
            if token.part == "verb" and after in _PARTICLES and is_word(f"{token.lemma}_{after}"):
                yield Token(token.index, token.low, f"{token.lemma}_{after}", "verb", token.tag)
            else:
                yield token

    # --- Exact values -----------------------------------------------------------------------------------------------

    @cached_property
    def figures(self) -> frozenset[str]:
        """Its figures; "5:00" counts as "5"."""
        found = {token.low.removesuffix(":00") for token in self.tokens if token.part == "figure"}
        return frozenset(found)

    @cached_property
    def intervals(self) -> frozenset[float]:
        """The intervals in days at which something is done."""
        return how_often(self.normalised)

    @cached_property
    def ranges(self) -> frozenset[tuple[str, str]]:
        """Its scores and ranges: "3–1" and "from 3 to 1" are not "1–3"."""
        return ranges(self.normalised)

    @cached_property
    def figure_by_counted(self) -> dict[str, str]:
        """The figure by the lemma of what it counts or measures."""
        found = {}
        for at, token in enumerate(self.tokens):
            if token.part == "figure":
                after = (each for each in self.tokens[at + 1 : at + 4] if each.part not in {"figure", "preposition"})
                counted = next((each.lemma for each in after if each.low not in LIGHT), None)
                if counted:
                    found[counted] = token.low
        return found

    @cached_property
    def ages(self) -> frozenset[str]:
        """The figures that are somebody's age: "is 5", "12 years old"."""
        return frozenset(found[1] or found[2] for found in _AGE.finditer(self.normalised))

    @cached_property
    def counted_nouns(self) -> frozenset[str]:
        """Plural nouns right after a figure."""
        return frozenset(
            after.lemma for token, after in pairwise(self.tokens) if token.part == "figure" and after.tag == "NNS"
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """Its names, in lower case."""
        return frozenset(token.low for token in self.tokens if token.part == "name")

    @cached_property
    def days(self) -> frozenset[str]:
        """Days, months, seasons and times of day."""
        return frozenset(token.lemma for token in self.tokens if token.lemma in _DAYS)

    @cached_property
    def units(self) -> frozenset[str]:
        """Units of measurement."""
        return frozenset(token.lemma for token in self.tokens if token.lemma in _UNITS)

    @cached_property
    def kin_terms(self) -> frozenset[str]:
        """Kinship nouns; "mother and father" count as "parent"."""
        found = frozenset(token.lemma for token in self.tokens if token.is_kin)
        return found - _PARENTS | {"parent"} if found >= _PARENTS else found

    @cached_property
    def negations(self) -> int:
        """The number of negation words."""
        return sum(token.low in NEGATIONS for token in self.tokens)

    @cached_property
    def implied_negations(self) -> int:
        """The number of words that may imply a negation."""
        return sum(
            token.lemma in _IMPLICIT_NEGATIONS
            or token.low in _IMPLICIT_NEGATIONS
            or (token.part == "adjective" and bool(_NEGATIVE_PREFIX.match(token.low)))
            or (token.low.startswith("un") and token.low.endswith("ed"))
            for token in self.content_words
        )

    @cached_property
    def is_wish(self) -> bool:
        """Whether it expresses a wish or plan."""
        return bool(_WISHING.search(self.normalised))

    @cached_property
    def is_hearsay(self) -> bool:
        """Whether it is only said to be so."""
        return bool(_HEARSAY.search(self.normalised))

    @cached_property
    def may_express_plan(self) -> bool:
        """Whether its wording may express a plan, as a request or duty does."""
        return bool(_PLANNING.search(self.normalised))

    @cached_property
    def is_seldom(self) -> bool:
        """Whether it has an adverb of rarity."""
        return not _SELDOM.isdisjoint(self.lower_tokens)

    @cached_property
    def is_partitive(self) -> bool:
        """Whether it is partitive: "is one of five siblings"."""
        return bool(_PARTITIVE.search(self.normalised))

    @cached_property
    def preposition_before(self) -> dict[str, str]:
        """The preposition before each content word, by its lemma."""
        found, last = {}, ""
        for token, following in zip_longest(self.tokens, self.tokens[1:]):
            is_infinitive = token.tag == "TO" and following is not None and following.part == "verb"
            if token.part == "preposition" and token.low not in {"of", "as"} and not is_infinitive:
                last = token.low
            elif token.low not in LIGHT:
                found[token.lemma], last = last, ""
        return found

    def content_word_after(self, low: str) -> str | None:
        """The first content word after a word."""
        at = next((at for at, token in enumerate(self.tokens) if token.low == low), len(self.tokens))
        rest = (each for each in self.tokens[at + 1 :] if each.part != "preposition" and each.low not in LIGHT)
        return next((each.lemma for each in rest), None)

    def token_after(self, low: str) -> str:
        """The token right after a word, or empty."""
        return next((after.low for token, after in pairwise(self.tokens) if token.low == low), "")

    def possessors(self, lemma: str) -> frozenset[str]:
        """The possessors of a noun: "ingrid" for "boss" in "Ingrid's boss"."""
        return frozenset(re.findall(rf"(\w+)'s (?:\w+ )?{re.escape(lemma)}\b", self.normalised.lower()))

    def contains(self, lemma: str) -> bool:
        """Whether it contains a word in any form."""
        return any(lemma in {token.lemma, token.low} for token in self.tokens)

    # --- Predicate and arguments ------------------------------------------------------------------------------------

    @cached_property
    def root(self) -> Word | None:
        """The main verb."""
        return next((w for w in self.parsed.words if w.head == w.index and w.pos in {"VERB", "AUX"}), None)

    @cached_property
    def verb(self) -> str:
        """The lemma of the main verb."""
        return self.root.lemma.lower() if self.root is not None else ""

    @cached_property
    def is_past(self) -> bool:
        """Whether the main verb is in the simple past."""
        if "formerly" in self.lower_tokens:
            return True
        return any(word.low != word.lemma.lower() for word in self._main_past)

    @property
    def may_be_past(self) -> bool:
        """The same, or ambiguous: a verb with equal present and past ("cost"), or habitual "would"."""
        return self.is_past or bool(self._main_past) or ("would" in self.lower_tokens and not self.is_wish)

    @cached_property
    def _main_past(self) -> list[Word]:
        root = self.root.index if self.root is not None else -1
        return [word for word in self.parsed.words if word.tag == "VBD" and root in {word.index, word.head}]

    @cached_property
    def has_past(self) -> bool:
        """Whether any verb is in the past tense."""
        return any(word.tag == "VBD" for word in self.parsed.words)

    @cached_property
    def is_perfect(self) -> bool:
        """Whether the main verb is in the perfect of result; with "for" or "since" it describes the present."""
        root = self.root
        return (
            {"for", "since"}.isdisjoint(self.lower_tokens)
            and root is not None
            and root.tag == "VBN"
            and any(each.dep == "aux" and each.lemma.lower() == "have" for each in self.parsed.children(root))
        )

    @cached_property
    def is_passive(self) -> bool:
        """Whether the main verb is passive."""
        root = self.root
        return root is not None and self.parsed.child(root, "auxpass", "nsubjpass") is not None

    @cached_property
    def subject(self) -> str:
        """The lemma of the main verb's subject."""
        found = self.parsed.child(self.root, "nsubj", "nsubjpass") if self.root is not None else None
        return next((token.lemma for token in self.tokens if found is not None and token.index == found.index), "")

    @cached_property
    def role_by_index(self) -> dict[int, str]:
        """The role of each argument, by token index: "subject", "object", "of", "to" or a preposition."""
        found = {}
        for word in self.parsed.words:
            head = self.parsed.head(word)
            if word.dep == "pobj":
                found[word.index] = "subject" if head.dep == "agent" else head.low
            elif word.dep in _ROLES:
                found[word.index] = _ROLES[word.dep]
        return found

    @cached_property
    def objects(self) -> list[str]:
        """The direct objects of the main verb, in lower case."""
        children = self.parsed.children(self.root) if self.root is not None else ()
        return [word.low for word in children if word.dep == "dobj"]

    def subjects_of(self, lemma: str = "") -> tuple[bool, frozenset[str]] | None:
        """A verb's subject with conjuncts and appositions, and whether it is the patient. Default: the main verb."""
        for word in self.parsed.words:
            is_sought = word.lemma.lower() == lemma if lemma else word == self.root
            if not is_sought or word.pos not in {"VERB", "AUX"}:
                continue
            agent = self.parsed.child(word, "agent")
            done_to = agent is None and self.parsed.child(word, "auxpass", "nsubjpass") is not None
            found = self.parsed.child(agent or word, *(("pobj",) if agent is not None else ("nsubj", "nsubjpass")))
            return (done_to, frozenset(self._conjuncts(found))) if found is not None else None
        return None

    def _conjuncts(self, word: Word) -> Iterator[str]:
        yield word.low
        for each in self.parsed.children(word):
            if each.dep in {"appos", "compound", "conj", "flat"}:
                yield from self._conjuncts(each)

    @cached_property
    def adjectives_by_noun(self) -> dict[str, frozenset[str]]:
        """The adjectives of each noun, by its lemma."""
        found: dict[str, frozenset[str]] = {}
        for word in self.parsed.words:
            if word.dep == "amod":
                noun = self.parsed.head(word).lemma.lower()
                found[noun] = found.get(noun, frozenset()) | {word.lemma.lower()}
        return found


_PARTS: dict[str, Part] = {
    "VERB": "verb", "AUX": "verb", "NOUN": "noun", "PROPN": "noun", "ADJ": "adjective", "ADV": "adverb",
    "ADP": "preposition", "SCONJ": "preposition", "PART": "preposition",
}  # fmt: skip
