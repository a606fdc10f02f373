"""Text in and out: positions, written moves and recorded games."""
