"""Messages between the processes of the sandbox and the runtime. Imports nothing else of the sandbox."""
