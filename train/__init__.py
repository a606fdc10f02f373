"""The trainer: run from the repository with `python -m train`. Uses nardy, never the reverse."""
