"""A sentence taken apart into clauses, each of which says one thing."""

from __future__ import annotations

from collections.abc import Sequence

from language.offline.lexicon import verbs
from language.offline.lexicon.words import (
    ADVERBS,
    AUXILIARIES,
    DAYS,
    DETERMINERS,
    NOT_NAMES,
    OPENERS,
    PREPOSITIONS,
    SUBJECT_PRONOUNS,
    by_first_word,
    listed,
)
from language.offline.tokens import Token

_HARD = listed("; — – : ( ) [ ] |")
_CONJUNCTIONS = listed("and but so or yet plus because although though whereas while which")
_CUT = listed("because although though whereas which")
TIME_CONJUNCTIONS = listed("when while after before until till once whenever since as")
_QUESTION_WORDS = listed("what how which where who why when whose whom")
LEADS = PREPOSITIONS | DAYS | TIME_CONJUNCTIONS | listed("every each back one last growing years all most some a")
MAX_LEAD = 14
# Said before a statement without changing it.
_PREFACES = by_first_word(
    (
        "by the way", "of course", "to be honest", "as you know", "fun fact", "for the record", "in fact",
        "i remember that", "i remember how", "i remember", "i know that", "i know", "i will never forget that",
        "i will never forget how", "the thing is", "the truth is", "i have to say", "i must say", "i should mention",
        "i should say", "i can tell you that", "i can tell you", "let me tell you", "i mean", "for me", "for example",
        "you know", "you see", "just so you know", "one thing i remember is that", "what i remember is that",
        "what i remember most is that", "what i remember most is how", "as a matter of fact", "thank you",
        "i love that", "i loved that", "i loved how", "i love how",
    )
)  # fmt: skip


def split_clauses(tokens: Sequence[Token]) -> list[list[Token]]:
    """Cut a sentence where a new statement begins; reasons and asides after "because" and "which" are left out."""
    clauses: list[list[Token]] = []
    current: list[Token] = []
    dropped = False
    position = 0
    while position < len(tokens):
        token = tokens[position]
        step = _boundary(tokens, position, current)
        if step:
            if not dropped and any(word.is_word for word in current):
                clauses.append(current)
            current = []
            dropped = token.low in _CUT or (position + 1 < len(tokens) and tokens[position + 1].low in _CUT)
            position += step
            continue
        current.append(token)
        position += 1
    if not dropped and any(word.is_word for word in current):
        clauses.append(current)
    return _with_leads(clauses)


def _boundary(tokens: Sequence[Token], position: int, current: Sequence[Token]) -> int:  # noqa: PLR0911
    """Return how many tokens make up a boundary at ``position``; 0 when there is none."""
    token = tokens[position]
    if token.low in _HARD or (token.low == "-" and token.spaced):
        return 1
    if token.low in _CUT and current:
        return 1
    if token.low != "," and token.low not in _CONJUNCTIONS:
        return 0
    after = position + 1
    if token.low == "," and after < len(tokens) and tokens[after].low in _CONJUNCTIONS:
        after += 1
    while after < len(tokens) and (tokens[after].low in OPENERS or tokens[after].low == ","):
        after += 1
    if (
        token.low == "and"
        and tokens[after : after + 1]
        and tokens[after].low == "that"
        and _opens_clause(tokens, after + 1)
    ):
        after += 1
    if after >= len(tokens):
        return 0
    if token.low == "," and _asks(tokens, after):
        return after - position
    if token.low == "," and verbs.is_gerund(tokens[after].low) and after == position + 1:
        following = tokens[after + 1].low if after + 1 < len(tokens) else ""
        described = len(current) > 1 and current[-2].low in DETERMINERS and following not in PREPOSITIONS | DETERMINERS
        return 1 if _has_verb(current) and not described and tokens[after].low not in {"including", "being"} else 0
    said_of = token.low == "," and tokens[after].low in SUBJECT_PRONOUNS and after + 1 < len(tokens)
    if not said_of and not _opens_clause(tokens, after):
        return 0
    if not _has_verb(current) and (token.low in {"and", "or"} or _is_apposition(tokens, after)):
        return 0
    return after - position


def _is_apposition(tokens: Sequence[Token], position: int) -> bool:
    """Whether "my grandfather," stands at ``position``, which explains a name before it."""
    ahead = [token.low for token in tokens[position : position + 4]]
    return ahead[0] in {"my", "our"} and "," in ahead


def _asks(tokens: Sequence[Token], position: int) -> bool:
    low = tokens[position].low
    following = tokens[position + 1].low if position + 1 < len(tokens) else ""
    if low in {"can", "could", "would", "will", "do", "did", "does", "is", "are", "was", "should", "have", "has"}:
        return following in SUBJECT_PRONOUNS | {"there", "not", "this", "that", "my", "the"}
    return low in _QUESTION_WORDS - {"when", "which"} or (low == "any" and following in {"tips", "ideas", "advice"})


def _has_verb(tokens: Sequence[Token]) -> bool:
    return any(_finite(token.low) for token in tokens)


def is_only_verb(word: str) -> bool:
    """Whether a word can only be a verb that has a subject."""
    return word in AUXILIARIES or verbs.is_past(word)


def _finite(word: str) -> bool:
    if word in AUXILIARIES:
        return True
    form = verbs.verb_form(word)
    return form is not None and bool(form.kinds & {"base", "s", "past"})


def _opens_clause(tokens: Sequence[Token], position: int) -> bool:
    """Whether a subject and its verb begin at ``position``."""
    if position >= len(tokens):
        return False
    token = tokens[position]
    if token.low in SUBJECT_PRONOUNS | {"that", "this", "there", "everyone", "nobody", "people", "someone"}:
        return _verb_follows(tokens, position + 1)
    if token.low in {"my", "our", "his", "her", "their", "the", "your"}:
        return any(_finite(word.low) and word.low not in {"like", "love", "name", "work", "home", "house", "cook"}
                   and index > 1 for index, word in enumerate(tokens[position : position + 5]))  # fmt: skip
    if token.capital and token.low not in NOT_NAMES:
        ahead = position + 1
        while ahead < len(tokens) and tokens[ahead].capital:
            ahead += 1
        return _verb_follows(tokens, ahead)
    return False


def _verb_follows(tokens: Sequence[Token], position: int) -> bool:
    while position < len(tokens) and tokens[position].low in ADVERBS:
        position += 1
    return position < len(tokens) and (_finite(tokens[position].low) or verbs.is_past(tokens[position].low))


def _with_leads(clauses: list[list[Token]]) -> list[list[Token]]:
    """Join "When I was little" to the clause that it stands before."""
    joined_clauses: list[list[Token]] = []
    pending: list[Token] = []
    for clause in clauses:
        if _is_lead(clause) and not pending and clause is not clauses[-1] and len(clause) <= MAX_LEAD:
            pending = clause
            continue
        if pending:
            comma = Token(",", ",", pending[-1].end, pending[-1].end, spaced=False)
            clause = [*pending, comma, *clause]  # noqa: PLW2901
            pending = []
        joined_clauses.append(clause)
    return joined_clauses


def _is_lead(clause: Sequence[Token]) -> bool:
    first = clause[0].low
    if first in TIME_CONJUNCTIONS:
        return True
    opens = first in LEADS and first not in {"a", "all", "some", "most", "one", "like"}
    return opens and not any(is_only_verb(token.low) for token in clause)


def skip_openers(tokens: Sequence[Token]) -> int:
    """Return where a clause begins to say something, after "well," and "by the way,"."""
    position = 0
    moved = True
    while moved and position < len(tokens):
        moved = False
        token = tokens[position]
        vocative = (
            token.capital
            and position
            and position + 1 < len(tokens)
            and tokens[position + 1].low in {",", "!", "."}
            and tokens[position - 1].low in OPENERS | {","}
        )
        if token.low in OPENERS or not token.is_word or vocative:
            position += 1
            moved = True
            continue
        for preface in _PREFACES.get(token.low, ()):
            if tuple(word.low for word in tokens[position : position + len(preface)]) == preface:
                after = position + len(preface)
                if after < len(tokens) and (tokens[after].low == "," or _opens_clause(tokens, after)):
                    position = after
                    moved = True
                break
    return position
