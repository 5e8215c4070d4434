"""Adapters of the peers with a common interface. They use the peers' public APIs as documented.

Only filling tables and reading back additions bypass these APIs. A module here imports its peer, so only ``runner``
imports these modules.
"""
