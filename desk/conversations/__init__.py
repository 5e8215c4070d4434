"""What the person said and was told: the list, a search in it, the reader, and taking something out of it."""
