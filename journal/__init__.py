"""What happened: revisions, changes, events, jobs, idempotency."""
