"""Whether the answer to the question whether something may be kept is a no."""

from __future__ import annotations

import math
import re

from . import wording
from .content import is_fragment
from .judged import has_cue, refusal_logit
from .questions import asking_sentences, without_recital

LEAST_THAT_DECLINES, SURELY_KEEPS = 0.05, -0.5
"""The scores, from -1 to 1, of a no, and of an answer in which nothing else is refused."""
_SURE = 2.5
"""The logit of a no with a subject in which the linear model finds no word of a refusal."""
_FORBIDS = re.compile(
    r"\W*(?:nothing|not a (?:single )?word)(?: at all)? (?:about|of|on) (?:my|our|me|us|him|her|them|it|this|that)\b"
    r"(?![^.!?]*\b(?:is|are|was|were|has|could|can)\b)",
    re.IGNORECASE,
)
"""An answer that forbids a topic: "Nothing about my kids, ever"; not "Nothing about them is secret"."""
_ONLY_ONCE = re.compile(
    r"\b(?:don'?t|do not|needn'?t|let'?s not|no need to|rather not|not to)\b(?: [\w']+){0,3}?"
    r" (?:make|turn|become|as)\b(?! the rules)(?: [\w']+){0,4}?"
    r" (?:rules?|habit|default|standard|permanent|norm|principle)\b",
    re.IGNORECASE,
)
"""An answer that lets nothing become a rule: "depends on the text, so don't make a rule out of it"."""
_NEEDLESS = re.compile(
    r"(?:^|[.,;!–—]|\b(?:so|and|but))\s*(?:(?:please )?(?:don'?t|do not|no need to) bother|(?:there'?s |there is )?no"
    r" (?:point|use|sense)(?: in (?:it|that|keeping\b.*))?|(?:it'?s |that'?s )?not worth (?:it|keeping|noting|saving)"
    r"|(?:please|rather|better) (?:don'?t|do not)(?=\W*$))\s*(?:[.,;!]|$)"
    r"|\bthank(?:s| you)\b[^.!?]{0,40}\bi(?:'m| am) (?:good|fine|all set)\s*(?:[.;!]|$)"
    r"|\bi'?ll pass(?: on (?:that|this|it))?(?:,? thank(?:s| you))?\s*(?:[.;!]|$)"
    r"|^\W*(?:(?:not necessary|not needed|unnecessary)\b|never ?mind(?: (?:that|it|this))?\W*$|what for\?"
    r"|(?:can|could) (?:we|you) not\?|(?:can'?t|can|could(?:n'?t)?) you (?:please |just )?forget (?:it|that)\W*$"
    r"|(?:rather|better|please) not (?:until|till|before|unless|yet|while)\b)",
    re.IGNORECASE,
)
"""An answer that sees no need for it, or not yet."""
_IN_JEST = re.compile(
    r"\b(?:only|just) (?:an? (?:\w+ )?(?:test|joke|example|experiment|guess|whim|bet|phase|one-off|trial"
    r"|figure of speech)|testing|joking|kidding)(?=\s*(?:[.,:;!?…–—]|$|(?:and|so|but|lol|haha)\b))",
    re.IGNORECASE,
)
"""What is said after a no of what was not meant: "lol no, it was only a test"."""


def score(question: str, answer: str) -> float | None:
    """How far an answer to a question declines; None if it is too long to be one, or the network is not there.

    Who forbids a topic, lets nothing become a rule or sees no need declines fully, whatever the network says. Of the
    question our fixed sentences are not read: with "no language model …" before it, nearly all declined.
    """
    asked, told = without_recital(question).strip(), answer.strip()
    if asked and _declines_fully(told.replace("’", "'")):
        return 1.0
    if not asked or len(told) > wording.LONGEST_ANSWER:
        return None
    # Of a longer message only its question is read, if it ends with it: after much else the network sees it less.
    last = next(reversed(asking_sentences(question)), "")
    logit = refusal_logit(last if last and asked.endswith(last) else asked, told)
    if logit is None:
        return None
    # Where a sentence has no word of a refusal the network must be sure: "I play chess." goes on telling.
    is_sure = logit >= _SURE or has_cue(told) or is_fragment(told)
    return math.tanh((logit if is_sure else min(logit, 0.0)) / 2)


def _declines_fully(answer: str) -> bool:
    is_short = len(answer) <= wording.LONGEST_ANSWER
    once = _ONLY_ONCE.search(answer) or _NEEDLESS.search(answer) or _IN_JEST.search(wording.after_opening_no(answer))
    return _FORBIDS.match(answer) is not None or (is_short and once is not None)
