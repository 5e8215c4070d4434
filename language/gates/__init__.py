"""Gates: pure functions that detect secrets and prompt injections in texts."""

from .instructions import find_instructions
from .sensitive import KINDS, Sensitive, find_sensitive, first_sensitive, is_masked, mask_sensitive

__all__ = [
    "KINDS",
    "Sensitive",
    "find_instructions",
    "find_sensitive",
    "first_sensitive",
    "is_masked",
    "mask_sensitive",
]
