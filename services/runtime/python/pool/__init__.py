"""Starts processes before their runs are known. Imports all other packages of the sandbox."""
