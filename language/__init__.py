"""The models Keepsake calls: language model, embedder, token counter. No tables."""
