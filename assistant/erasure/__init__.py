"""Erasure: extent, execution, receipts and verification."""
