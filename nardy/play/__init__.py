"""What a front end calls: a player that chooses moves from an exported net."""
