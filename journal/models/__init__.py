"""What happened, what is being done, and what people take with them or had erased."""

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
