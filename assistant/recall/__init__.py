"""Retrieval for questions and turns, and the assembly of prompts."""
