"""Learning memories from what was said: a model chooses, a plan checks, the ledger's lock decides."""
