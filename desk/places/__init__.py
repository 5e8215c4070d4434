"""The places that the person cares about."""
