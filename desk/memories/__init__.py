"""What is remembered about the person: the list, one memory, fewer words for several."""
