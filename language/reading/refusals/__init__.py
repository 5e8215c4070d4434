"""Refusals in chat: "don't write that down", "no, it's just for this task", "forget what I said about …".

Patterns find the request (``wording``, ``requests``). Only then is anything parsed, to find other content of the
message and the words that name what is refused (``meaning``); ``naming`` finds the statements that these words name.
Whether a short answer to the question whether to keep something is a no is judged by a network (``answers``).
"""

from .corrected import answers_an_offer, corrects_asked
from .discretion import asks_for_rule, asks_for_secrecy, asks_who_sees, only_asks_for_secrecy
from .elsewhere import NamedThing, named_things
from .meaning import find_refusal
from .naming import asks_about, count_extra_words, find_named, restates
from .offers import asks_to_keep
from .parts import agrees_to_all, says_only
from .questions import leaves_open, may_answer
from .records import Refusal, Turn
from .requests import asks_to_forget_all, may_refuse, names_what_was_said, says_undo
from .subjects import SentenceWords, beginnings_of, content_words, lemmas
from .wording import LONGEST_ANSWER, asks_for_discretion, begins_with_yes, says_no, says_yes

__all__ = [
    "LONGEST_ANSWER",
    "NamedThing",
    "Refusal",
    "SentenceWords",
    "Turn",
    "agrees_to_all",
    "answers_an_offer",
    "asks_about",
    "asks_for_discretion",
    "asks_for_rule",
    "asks_for_secrecy",
    "asks_to_forget_all",
    "asks_to_keep",
    "asks_who_sees",
    "beginnings_of",
    "begins_with_yes",
    "content_words",
    "corrects_asked",
    "count_extra_words",
    "find_named",
    "find_refusal",
    "leaves_open",
    "lemmas",
    "may_answer",
    "may_refuse",
    "named_things",
    "names_what_was_said",
    "only_asks_for_secrecy",
    "restates",
    "says_no",
    "says_only",
    "says_undo",
    "says_yes",
]
