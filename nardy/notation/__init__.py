"""Text in and out: position identifiers and written moves."""
