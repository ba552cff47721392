"""Processes that are started before their runs. Imports all other packages of the sandbox."""
