"""Messages between the sandbox's processes and the runtime. Imports no other package of the sandbox."""
