"""Other engines as players, each an optional adapter."""


class NotInstalledError(ValueError):
    """An engine that was asked for is not on this machine; the message says how to get it."""
