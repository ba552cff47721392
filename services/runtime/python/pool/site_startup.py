"""The first steps of an interpreter, which are the same for every script: its own module `site`.

A script's process takes them while it waits for the word to execute. What `site` executes of an
environment, its path files and `sitecustomize`, is foreign: before the first of it the process waits.
"""

from __future__ import annotations

import os
import sys
from typing import AbstractSet, Callable, Dict, List

# Further ones that `site` needs.
_NEEDED = frozenset(("_sitebuiltins", "errno"))
# Files with lines that `site` executes.
_FOREIGN = (".pth", ".start")


class SiteStartup:
    """Finds no module, but sees what the interpreter does until it needs the word."""

    def __init__(self, early: AbstractSet[str]) -> None:
        """@param early modules that `site` may look at. It would look at all, of which it changes none"""
        self._names = [name for name in sys.modules if name not in early | _NEEDED]
        self._hidden: Dict[str, object] = {}
        self._list = os.listdir
        self._wait: Callable[[], object] = lambda: None

    def begin(self, wait: Callable[[], object]) -> None:
        """Begins. @param wait returns when more than these steps may be taken"""
        self._wait = wait
        for name in self._names:
            self._hidden[name] = sys.modules.pop(name)
        os.listdir = self._listdir
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> None:
        """Called by the interpreter for each module that is imported."""
        if name not in _NEEDED and name != "site":
            # `sitecustomize`, where nothing else was first.
            self._end()

    def _listdir(self, *folder: str) -> List[str]:
        names = self._list(*folder)
        if any(name.endswith(_FOREIGN) for name in names):
            self._end()
        return names

    def _end(self) -> None:
        if self not in sys.meta_path:
            return
        sys.meta_path.remove(self)
        os.listdir = self._list
        sys.modules.update(self._hidden)
        self._wait()
