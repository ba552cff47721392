"""Stands in for `encodings`, the first module that an interpreter imports from a file.

It gives way to the real one at once, and waits for the interpreter to import `site`. At that
point everything of a fresh interpreter is there and nothing of an environment has been read: the
keeper does its work there. In a process that is to execute a script the search for `site` then
goes on, so that the interpreter itself does all the rest, just as in one that was started afresh.
"""

import sys

_FOLDER = __file__.rpartition("/")[0].rpartition("/")[0]


class _BeforeSite:
    @classmethod
    def find_spec(cls, name, _path=None, _target=None):
        """Finds nothing, but keeps a keeper when `site` is looked for."""
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
