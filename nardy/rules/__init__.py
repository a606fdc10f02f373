"""The law of the game: boards, dice, variants and legal afterstates. Knows nothing of nets."""
