"""What the jobs of this room and the one before are about, for the staff's list of jobs."""

from assistant.imports.actions import JOB as IMPORT_JOB
from conversations.models import Conversation, ConversationImport
from web.admin import job_subjects

from .imports.actions import UNDO_JOB
from .learn.summarizing import JOB as SUMMARIZE_JOB
from .reembedding import JOB as REEMBED_JOB

job_subjects.update(
    {
        SUMMARIZE_JOB: Conversation,
        IMPORT_JOB: ConversationImport,
        UNDO_JOB: ConversationImport,
        REEMBED_JOB: None,
    }
)
