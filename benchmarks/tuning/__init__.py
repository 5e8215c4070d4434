"""Tunes the last layers of the entailment network for questions of our own: ``make tune ARGS=outdated``.

JAX computes the slopes, in an environment of its own: Keepsake only runs the network.
"""
