"""The lifecycle of one run, from its preparation to its exit. Imports only wire, kernel and containment."""
