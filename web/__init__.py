"""What every HTTP interface shares: errors, ETags, idempotency, pages of lists, throttling, the admin's base."""
