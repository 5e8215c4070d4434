"""Exports of all data of a person, and their import into an empty account."""
