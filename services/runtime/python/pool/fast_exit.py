"""Lets a forked interpreter exit without clearing the modules of its keeper.

An interpreter clears and frees all modules when it exits. In a forked interpreter this copies
nearly every page of the keeper's memory. The modules that the keeper imported are therefore not
cleared. The script's own modules, and those that it imported, are cleared as always: their
objects are destroyed and their files written.
"""

from __future__ import annotations

import atexit
import sys
from typing import Dict, List

from kernel import syscalls

# Modules that the interpreter needs when it exits.
_NEEDED = ("__main__", "sys", "builtins")


class FastExit:
    """Must be created before other code registers exit handlers, because handlers run in reverse order."""

    def __init__(self) -> None:
        self._sizes: Dict[str, int] = {}
        self._modules: List[object] = []
        syscalls.keep_for_ever(self._modules)
        atexit.register(self._detach_modules)

    def keep(self, module: object) -> None:
        """Prevents a module or another object from being freed."""
        self._modules.append(module)

    def begin(self) -> None:
        """Call it when this process starts to execute the script."""
        main = sys.modules["__main__"]
        # Tracks these again, so that the garbage collector destroys the script's objects that refer to its main module.
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
            # Keeps only modules that are unchanged. If a script has added a name to a module, the module is cleared
            # like a module of the script.
            if module is not None and len(vars(module)) == size:
                self._modules.append(module)
                del sys.modules[name]
