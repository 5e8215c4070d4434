"""One memory under its lock: what every change of a memory has in common.

The person's ledger counts active memories, their words and what the memory block costs. All of it follows from how the
memory stood before and after, so it is worked out here, once, and no action can forget it.
"""
