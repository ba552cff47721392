"""Describes exceptions as data, and reports them as the run's error."""

from __future__ import annotations

import linecache
import os
import warnings
from types import TracebackType
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

from ._channel import Channel

_HERE = os.path.dirname(os.path.abspath(__file__))
_SDK = os.path.dirname(_HERE)
# A traceback with more frames than this keeps its first 25 and last 25 frames.
_MAX_FRAMES = 50
_MAX_CAUSES = 10
# The number of causes to report at the end of the path to the root cause, in addition to causes at the start of the
# path.
_MAX_PATH_END = 4
# The maximum number of causes to visit. Legitimate scripts have far fewer.
_MAX_VISITED_CAUSES = 1000
_MAX_TEXT_LENGTH = 32 * 1024
_MAX_STATEMENT_LINES = 30
# The value of `ast.PyCF_ONLY_AST`, which avoids importing `ast`.
_ONLY_SYNTAX = 0x400
_PATIENCE_SECONDS = 5.0

Place = Tuple[str, int, str]

_cause_of = BaseException.__cause__.__get__  # type: ignore[attr-defined]
_context_of = BaseException.__context__.__get__  # type: ignore[attr-defined]
_is_suppressed = BaseException.__suppress_context__.__get__  # type: ignore[attr-defined]


def send(error: Dict[str, Any]) -> None:
    """Sends a description to the platform. The process is about to exit. @raises OrchestratorError"""
    Channel(os.environ["ORCH_SOCKET"], _PATIENCE_SECONDS).call("error", {"error": error})


def describe(error: BaseException) -> Dict[str, Any]:
    """Describes an exception with its causes."""
    described = {**_described(error), "causes": _causes(error)}
    return {**described, **_exit_of(error.code)} if isinstance(error, SystemExit) else described


def describe_exit(
    status: Any, places: Iterable[Place], handled: Optional[BaseException]
) -> Dict[str, Any]:
    """Returns the exception for a `sys.exit` call.

    @param handled the exception that the script was handling
    """
    # As in `sys.exit`, a tuple contains the arguments of the exception.
    raised = SystemExit(*status) if isinstance(status, tuple) else SystemExit(status)
    raised.__context__ = handled
    return {**describe(raised), "frames": _frames(places)}


def _exit_of(status: Any) -> Dict[str, Any]:
    """Returns the process's exit code, and the text that the interpreter prints."""
    code = 0 if status is None else status & 0xFF if isinstance(status, int) else 1
    text = "" if status is None or isinstance(status, int) else _text(status)
    return {"message": _bounded(text) or f"exit code {code}", "exit_code": code}


def _causes(error: BaseException) -> List[Dict[str, Any]]:
    found = list(_all_causes(error))
    described = []
    following = 0
    for index in _kept([depth for depth, _, _ in found]):
        depth, relation, cause = found[index]
        one = {**_described(cause), "relation": relation, "depth": depth}
        described.append({**one, "omitted": index - following} if index > following else one)
        following = index + 1
    return described


def _kept(depths: List[int]) -> List[int]:
    """Returns the positions of the causes to report: the root cause, the causes that follow from it, and the causes
    nearest to the error."""
    path: List[int] = []
    for index in range(len(depths) - 1, -1, -1):
        if not path or depths[index] < depths[path[-1]]:
            path.append(index)
    kept = {*path[:_MAX_PATH_END], *path[-1:]}
    others = [index for index in range(len(depths)) if index not in kept]
    return sorted([*kept, *others[: _MAX_CAUSES - len(kept)]])


def _all_causes(error: BaseException) -> Iterator[Tuple[int, str, BaseException]]:
    """Lists the exceptions that led to this one. Each has its depth and is followed by its own causes."""
    seen = {id(error)}
    pending = [(1, *each) for each in _related(error)][::-1]
    while pending and len(seen) < _MAX_VISITED_CAUSES:
        depth, relation, one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield depth, relation, one
        pending.extend([(depth + 1, *each) for each in _related(one)][::-1])


def _related(error: BaseException) -> Iterator[Tuple[str, BaseException]]:
    # Compares the name, because backports for older interpreters have a separate class with this name.
    if any(kind.__name__ == "BaseExceptionGroup" for kind in type(error).__mro__):
        for member in error.exceptions:  # type: ignore[attr-defined]
            yield "member", member
    # Reads these attributes through the base class, because a script's class can redefine them.
    cause, context, is_suppressed = _cause_of(error), _context_of(error), _is_suppressed(error)
    if cause is not None:
        yield "cause", cause
    elif context is not None and not is_suppressed:
        yield "context", context


def _described(error: BaseException) -> Dict[str, Any]:
    kind = type(error)
    module = kind.__module__
    name = kind.__qualname__ if module in ("builtins", "__main__") else f"{module}.{kind.__qualname__}"
    places = list(_places(error.__traceback__))
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        text = error.msg or ""
        frames = [*_frames(places), _frame(error.filename, error.lineno, "<module>", error.text)]
    else:
        text, frames = _text(error), _frames(places)
    return {"type": name, "message": _bounded("\n".join([text, *_notes(error)])), "frames": frames}


def _notes(error: BaseException) -> List[str]:
    try:
        return [note for note in getattr(error, "__notes__", None) or () if isinstance(note, str)]
    except Exception:
        return []


def _text(error: object) -> str:
    try:
        return str(error)
    except Exception:
        return "<exception str() failed>"


def _places(trace: Optional[TracebackType]) -> Iterator[Place]:
    while trace is not None:
        code = trace.tb_frame.f_code
        yield code.co_filename, trace.tb_lineno, code.co_name
        trace = trace.tb_next


def _frames(places: Iterable[Place]) -> List[Dict[str, Any]]:
    # Also omits frames from this package, because the package called the script.
    own = [place for place in places if not _is_of_package(place[0])]
    half = _MAX_FRAMES // 2
    kept = own if len(own) <= _MAX_FRAMES else own[:half] + own[-half:]
    return [_frame(*place) for place in kept]


def _is_of_package(path: str) -> bool:
    return os.path.dirname(path) in (_HERE, _SDK)


def _frame(path: str, line: int, function: str, code: Optional[str] = None) -> Dict[str, Any]:
    path = path if path.startswith("<") else os.path.abspath(path)
    code = _source(path, line) if code is None else code
    return {"file": path, "line": max(line, 1), "function": function, "code": _bounded(code.strip())}


def _source(path: str, line: int) -> str:
    """Returns the source line. For `raise` and `assert`, returns the whole statement, because its text identifies the
    error."""
    first = text = linecache.getline(path, line)
    if not first.lstrip().startswith(("raise ", "assert ")):
        return first
    for number in range(line + 1, line + _MAX_STATEMENT_LINES):
        if _is_statement(text.strip()):
            lines = [part.strip() for part in text.splitlines()]
            return " ".join(part for part in lines if not part.startswith("#"))
        text += linecache.getline(path, number)
    return first


def _is_statement(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<statement>", "exec", _ONLY_SYNTAX, True)
        return True
    except Exception:
        return False


def _bounded(text: str) -> str:
    # Truncates the text. The platform expects that a text of this length may be truncated, and removes a partial secret
    # at its end. Lone surrogates are replaced, because JSON cannot contain them.
    return text[:_MAX_TEXT_LENGTH].encode("utf-8", "replace").decode("utf-8")
