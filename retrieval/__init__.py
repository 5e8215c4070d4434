"""Hybrid search over declared sources, fusion, budgets, text normalisation. No tables."""
