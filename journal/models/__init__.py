"""Tables of the log, jobs and idempotency (``log``), and of exports and erasures (``leaving``)."""

from .leaving import Erased, Erasure, Export, ExportPart, ExportQuerySet
from .log import (
    ActorKind,
    Change,
    ChangeQuerySet,
    IdempotencyRecord,
    JobRun,
    JobRunQuerySet,
    Learned,
    Ledger,
    ModelUse,
    OperationEvent,
    UndoStep,
)

__all__ = [
    "ActorKind",
    "Change",
    "ChangeQuerySet",
    "Erased",
    "Erasure",
    "Export",
    "ExportPart",
    "ExportQuerySet",
    "IdempotencyRecord",
    "JobRun",
    "JobRunQuerySet",
    "Learned",
    "Ledger",
    "ModelUse",
    "OperationEvent",
    "UndoStep",
]
