"""What processes of the sandbox, and the runtime, send each other. Imports nothing else of the sandbox."""
