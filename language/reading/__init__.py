"""Rule-based reading of English without a language model: who says what of whom, over spaCy's dependency parse."""
