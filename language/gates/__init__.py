"""What a text must not hold to be stored or to reach a prompt: pure functions that know texts and nothing else."""

from .instructions import find_instructions
from .sensitive import Sensitive, find_sensitive, first_sensitive, is_masked, mask_sensitive

__all__ = ["Sensitive", "find_instructions", "find_sensitive", "first_sensitive", "is_masked", "mask_sensitive"]
