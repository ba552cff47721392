"""Starts, watches and ends the processes of runs (Linux, standard library only)."""
