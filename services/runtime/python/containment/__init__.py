"""A run's containment: its layers, folders and limits. Imports only wire and kernel."""
