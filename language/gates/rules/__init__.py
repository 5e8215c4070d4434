"""The rules that detect prompt injections."""

from .addressed import ADDRESSED
from .base import COMMAND, HIDDEN, Rule
from .directing import DIRECTING
from .english import ENGLISH
from .european import EUROPEAN
from .lexicon import LEXICON, Order
from .manner import is_a_wish
from .markup import MARKUP
from .other_scripts import OTHER_SCRIPTS
from .polite import POLITE
from .steering import STEERING

RULES: list[Rule | Order] = [
    *MARKUP,
    *ENGLISH,
    *ADDRESSED,
    *DIRECTING,
    *EUROPEAN,
    *POLITE,
    *OTHER_SCRIPTS,
    *STEERING,
    *LEXICON,
]

__all__ = ["COMMAND", "HIDDEN", "RULES", "Order", "Rule", "is_a_wish"]
