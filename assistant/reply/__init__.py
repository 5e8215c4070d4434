"""The reference assistant: one answer at a time, streamed to whoever follows it."""
