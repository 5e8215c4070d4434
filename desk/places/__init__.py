"""Pages of places."""
