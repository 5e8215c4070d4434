"""Hybrid search by vectors and words, prepared statements, token budgets, text normalisation. No tables."""
