"""The rules that detect prompt injections."""

from .addressed import ADDRESSED
from .base import HIDDEN, Rule
from .directing import DIRECTING
from .english import ENGLISH
from .european import EUROPEAN
from .lexicon import LEXICON, Order
from .markup import MARKUP
from .other_scripts import OTHER_SCRIPTS

RULES: list[Rule | Order] = [*MARKUP, *ENGLISH, *ADDRESSED, *DIRECTING, *EUROPEAN, *OTHER_SCRIPTS, *LEXICON]

__all__ = ["HIDDEN", "RULES", "Order", "Rule"]
