"""What agents use: replies, extraction, recall, tools, imports, exports and erasure."""
