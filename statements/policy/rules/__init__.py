"""The rules by which text aimed at a model is recognised."""

from .base import HIDDEN, Rule
from .english import ENGLISH
from .european import EUROPEAN
from .markup import MARKUP
from .other_scripts import OTHER_SCRIPTS

RULES = [*MARKUP, *ENGLISH, *EUROPEAN, *OTHER_SCRIPTS]

__all__ = ["HIDDEN", "RULES", "Rule"]
