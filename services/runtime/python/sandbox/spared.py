"""Spares an interpreter that ends the work of taking apart what it has not made itself.

When an interpreter ends, it clears and frees all modules. In one that was forked this copies nearly
every page of the keeper's memory, only to throw it away. The modules that the keeper had imported
are therefore left alone; those that the script imported, and its own, are cleared as always, so that
its objects are destroyed and its files written.
"""

from __future__ import annotations

import atexit
import sys
from typing import Dict, List

from . import kernel

# Those that the interpreter itself needs at its end.
_NEEDED = ("__main__", "sys", "builtins")


class Spared:
    """To be made before anything else registers what is to be done at the end: that comes first."""

    def __init__(self) -> None:
        self._sizes: Dict[str, int] = {}
        self._modules: List[object] = []
        kernel.keep_for_ever(self._modules)
        atexit.register(self._spare)

    def keep(self, module: object) -> None:
        """One that is forgotten is not taken apart for that."""
        self._modules.append(module)

    def begin(self) -> None:
        """The rest of this process is the script's."""
        main = sys.modules["__main__"]
        # What the script puts there, and refers to it, is found to be garbage at the end.
        kernel.collect_again(main)
        kernel.collect_again(vars(main))

    def note(self) -> None:
        """What is imported now is to be spared."""
        self._sizes.update(
            (name, len(vars(module)))
            for name, module in sys.modules.items()
            if name not in _NEEDED and hasattr(module, "__dict__")
        )

    def _spare(self) -> None:
        for name, size in self._sizes.items():
            module = sys.modules.get(name)
            # One to which the script has added something is cleared like its own.
            if module is not None and len(vars(module)) == size:
                self._modules.append(module)
                del sys.modules[name]
