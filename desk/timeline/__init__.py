"""Pages of the timeline and its charts."""
