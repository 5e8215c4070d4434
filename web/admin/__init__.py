"""Base classes and helpers of every room's staff pages, and the staff pages of the journal."""

from .base import RecordAdmin, filter_by_id, is_staff, label_column, link_column, link_to
from .dialogs import ConfirmForm, ReasonForm, button, render_in_dialog
from .records import job_subjects

__all__ = [
    "ConfirmForm",
    "ReasonForm",
    "RecordAdmin",
    "button",
    "filter_by_id",
    "is_staff",
    "job_subjects",
    "label_column",
    "link_column",
    "link_to",
    "render_in_dialog",
]
