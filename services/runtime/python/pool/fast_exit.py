"""Lets a forked interpreter exit without clearing the modules of its keeper.

An interpreter clears and frees all modules at its exit. In a forked interpreter this copies nearly every page of
the keeper's memory. The modules that the keeper imported are therefore not cleared. The script's own modules, and
those that it imported, are cleared as always: their objects are destroyed and their files written.
"""

from __future__ import annotations

import atexit
import sys
from typing import Dict, List

from kernel import syscalls

# The interpreter needs these at its exit.
_NEEDED = ("__main__", "sys", "builtins")


class FastExit:
    """Create it before other code registers exit handlers, because the last registered handler runs first."""

    def __init__(self) -> None:
        self._sizes: Dict[str, int] = {}
        self._modules: List[object] = []
        syscalls.keep_for_ever(self._modules)
        atexit.register(self._detach_modules)

    def keep(self, module: object) -> None:
        """Prevents a module or another object from being freed."""
        self._modules.append(module)

    def begin(self) -> None:
        """From here on this process executes the script."""
        main = sys.modules["__main__"]
        # The garbage collector then destroys the script's objects that refer to its main module.
        syscalls.collect_again(main)
        syscalls.collect_again(vars(main))

    def note(self) -> None:
        """Records the modules to keep: those imported so far."""
        self._sizes.update(
            (name, len(vars(module)))
            for name, module in sys.modules.items()
            if name not in _NEEDED and hasattr(module, "__dict__")
        )

    def _detach_modules(self) -> None:
        for name, size in self._sizes.items():
            module = sys.modules.get(name)
            # A module to which the script added a name is cleared like the script's own.
            if module is not None and len(vars(module)) == size:
                self._modules.append(module)
                del sys.modules[name]
