"""One run, from its preparation to its exit. Imports wire, kernel and containment."""
