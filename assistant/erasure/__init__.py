"""Erasing: what goes with what, how it goes, and the receipt that it is gone."""
