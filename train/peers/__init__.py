"""Other engines as players, each an optional adapter."""
