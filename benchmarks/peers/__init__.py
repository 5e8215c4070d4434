"""Keepsake beside its peers and beside bare SQL, in one run on one PostgreSQL: ``make bench``.

The driver (``__main__``) runs in Keepsake's environment. What the peers do runs in a process and an environment of
their own (``runner``), so that their packages and Keepsake's never meet; both speak JSON, one line a call. Modules that
both sides use (``plan``, ``system``, ``adapters``) need the standard library and NumPy only. See docs/benchmarks.md.
"""
