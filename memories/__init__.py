"""Memories: statements about a person, with versions, evidence, proposals, places and plans."""
