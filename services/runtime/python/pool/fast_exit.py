"""Lets a forked interpreter exit without clearing its keeper's modules.

An interpreter clears and frees all modules when it exits. In a forked interpreter, this copies nearly every page of the
keeper's memory. Therefore, the modules that the keeper imported are not cleared. The script's own modules, and those
that it imported, are cleared as usual: their objects are destroyed and their files written.
"""

from __future__ import annotations

import atexit
import sys
from typing import Dict, List

from kernel import syscalls

# Modules that the interpreter needs when it exits.
_NEEDED = ("__main__", "sys", "builtins")


class FastExit:
    """Create this object before other code registers exit handlers, because handlers run in reverse order."""

    def __init__(self) -> None:
        self._sizes: Dict[str, int] = {}
        self._modules: List[object] = []
        syscalls.keep_for_ever(self._modules)
        atexit.register(self._detach_modules)

    def keep(self, module: object) -> None:
        """Prevents a module or another object from being freed."""
        self._modules.append(module)

    def begin(self) -> None:
        """Call this function when this process starts to execute the script."""
        main = sys.modules["__main__"]
        # Tracks the main module again, so that the garbage collector destroys script objects that refer to the module.
        syscalls.collect_again(main)
        syscalls.collect_again(vars(main))

    def note(self) -> None:
        """Records the modules that have been imported so far, so that they are kept."""
        self._sizes.update(
            (name, len(vars(module)))
            for name, module in sys.modules.items()
            if name not in _NEEDED and hasattr(module, "__dict__")
        )

    def _detach_modules(self) -> None:
        for name, size in self._sizes.items():
            module = sys.modules.get(name)
            # Only keeps unchanged modules. If a script has added a name to a module, the module is cleared like the
            # script's own modules.
            if module is not None and len(vars(module)) == size:
                self._modules.append(module)
                del sys.modules[name]
