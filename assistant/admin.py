"""What the jobs of this room are about, for the staff's list of jobs."""

from conversations.models import Conversation
from journal.admin import job_subjects

from .actions import JOB

job_subjects[JOB] = Conversation
