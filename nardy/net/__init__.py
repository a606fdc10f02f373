"""Reads and evaluates an exported net with numpy, faster where numba is installed."""
