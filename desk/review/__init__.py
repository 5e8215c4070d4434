"""The review queue: one item, one decision, the next."""
