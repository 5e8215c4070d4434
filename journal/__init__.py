"""Ledgers with revisions, the log of changes, undo, jobs, the operation log and idempotency records."""
