"""The sandbox's interface to Linux. Imports only wire."""
