"""Pages of memories: list, detail, merge plans."""
