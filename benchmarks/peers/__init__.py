"""Benchmark of Keepsake against its peers and bare SQL, in one run on one PostgreSQL: ``make bench``.

The driver (``__main__``) runs in Keepsake's environment. The peers run in a separate process and environment
(``runner``), so that their packages don't conflict with Keepsake's; the two exchange one line of JSON per call. Modules
used by both sides (``plan``, ``system``, ``adapters``) need only the standard library and NumPy. See
docs/benchmarks.md.
"""
