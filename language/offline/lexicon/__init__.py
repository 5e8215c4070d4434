"""What the rules know about English: word lists and verb forms, as data."""
