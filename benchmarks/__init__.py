"""Measurements against the performance targets; never part of the tests, as machines are shared and noisy."""
