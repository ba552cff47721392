"""What the sandbox asks of Linux. Imports wire alone."""
