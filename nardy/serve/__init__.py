"""Doors for front ends: HTTP, gnubg's socket, UBGI. They know no rules; nardy.serve.bot does."""
