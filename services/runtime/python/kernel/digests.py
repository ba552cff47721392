"""SHA-256 without OpenSSL. If the keeper loaded OpenSSL, each script's interpreter would have to
unload it when it exits."""

from __future__ import annotations

try:
    from _sha2 import sha256
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found,no-redef]
    except ImportError:
        from hashlib import sha256

__all__ = ["sha256"]
