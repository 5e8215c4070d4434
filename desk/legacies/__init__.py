"""Facts about legacies: the lists, one fact, decisions about it."""
