"""The admin: what the staff's pages of every room build on, and those of the journal itself."""

from .base import RecordAdmin, is_staff, link_to, linked, with_id
from .dialogs import ConfirmForm, ReasonForm, button, opened
from .records import job_subjects

__all__ = [
    "ConfirmForm",
    "ReasonForm",
    "RecordAdmin",
    "button",
    "is_staff",
    "job_subjects",
    "link_to",
    "linked",
    "opened",
    "with_id",
]
