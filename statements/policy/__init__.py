"""Pure gates that a text passes before it is stored, and the fingerprint by which it is known again. No database."""

from .form import LONGEST, LONGEST_EXTRACTED, SHORTEST, check_form, check_third_person, fingerprint, fingerprints
from .gates import Admitted, admit, find_instructions, reason_to_hold_back
from .sensitive import Sensitive, check_sensitive, clean_reason, find_sensitive, is_masked, mask_sensitive

__all__ = [
    "LONGEST",
    "LONGEST_EXTRACTED",
    "SHORTEST",
    "Admitted",
    "Sensitive",
    "admit",
    "check_form",
    "check_sensitive",
    "check_third_person",
    "clean_reason",
    "find_instructions",
    "find_sensitive",
    "fingerprint",
    "fingerprints",
    "is_masked",
    "mask_sensitive",
    "reason_to_hold_back",
]
