"""Replaces `encodings`, the first module that an interpreter imports from a file.

This module immediately loads the real module, and waits until the interpreter imports `site`. At this point, the
interpreter is fully initialized, but has not read any environment. The keeper does its work here. In a script's
process, the search for `site` then continues, so that the interpreter itself completes its start like a new
interpreter.
"""

import sys

_FOLDER = __file__.rpartition("/")[0].rpartition("/")[0]


class _BeforeSite:
    @classmethod
    def find_spec(cls, name, _path=None, _target=None):
        """A finder that runs the keeper when the interpreter searches for `site`. Never finds a module."""
        if name == "site":
            sys.meta_path.remove(cls)
            sys.path.insert(0, _FOLDER.rpartition("/")[0])
            import keeper

            keeper.keep()


sys.path.remove(_FOLDER)
sys.path_importer_cache.pop(_FOLDER, None)
sys.meta_path.insert(0, _BeforeSite)
del sys.modules[__name__]
import encodings  # noqa: E402,F401
