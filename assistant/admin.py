"""What the jobs of this room and the one before are about, for the staff's list of jobs."""

from assistant.imports.actions import JOB as IMPORT_JOB
from conversations.models import Conversation, ConversationImport
from journal.models import Erasure
from web.admin import job_subjects

from .erasure.actions import JOB as ERASE_JOB
from .imports.actions import UNDO_JOB
from .learn.summarizing import JOB as SUMMARIZE_JOB
from .reembedding import JOB as REEMBED_JOB
from .takeout.export_actions import JOB as EXPORT_JOB

job_subjects.update(
    {
        SUMMARIZE_JOB: Conversation,
        IMPORT_JOB: ConversationImport,
        UNDO_JOB: ConversationImport,
        REEMBED_JOB: None,
        EXPORT_JOB: None,
        ERASE_JOB: Erasure,
    }
)
