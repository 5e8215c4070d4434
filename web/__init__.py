"""Shared code of all HTTP interfaces: errors, ETags, idempotency, pagination, throttling, streams, the admin's base."""
