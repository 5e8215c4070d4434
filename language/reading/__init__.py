"""English read without a language model: who says what of whom, over the parse of a small spaCy pipeline."""
