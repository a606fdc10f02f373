"""Stakes, the cube, match scores and match equity. Knows the rules, but no nets."""
