"""Everything about a person as one file: written for them, and read again into an empty account."""
