// Long because each text is as its library wrote it, apart from the folder of the script.
/** Logs that real libraries wrote about the same exception: python-json-logger 4.2, structlog 26.1, loguru 0.7 and
 *  rich 15. */

// Words that result from color codes. cspell:ignore mnot mjob
const esc = '\u001B';

/** python-json-logger without levels. */
export const jsonLogger = String.raw`{"message": "not loaded", "exc_info": "Traceback (most recent call last):\n  File \"/srv/script/1/lib/load.py\", line 3, in rows\n    return float(text)\n           ^^^^^^^^^^^\nValueError: could not convert string to float: 'n/a'\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"/srv/script/1/pjl.py\", line 4, in run\n    rows(\"n/a\")\n  File \"/srv/script/1/lib/load.py\", line 5, in rows\n    raise RuntimeError(\"no rows\") from error\nRuntimeError: no rows"}`;
/** structlog with `format_exc_info` and `JSONRenderer`. */
export const structlogJson = String.raw`{"job": 7, "event": "not loaded", "level": "error", "timestamp": "2026-11-28T09:20:25.872756Z", "exception": "Traceback (most recent call last):\n  File \"/srv/script/1/lib/load.py\", line 3, in rows\n    return float(text)\n           ^^^^^^^^^^^\nValueError: could not convert string to float: 'n/a'\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"/srv/script/1/batch.py\", line 4, in run\n    rows(\"n/a\")\n  File \"/srv/script/1/lib/load.py\", line 5, in rows\n    raise RuntimeError(\"no rows\") from error\nRuntimeError: no rows"}`;
/** structlog with `dict_tracebacks` and `JSONRenderer`. */
export const structlogStack = String.raw`{"job": 7, "event": "not loaded", "level": "error", "exception": [{"exc_type": "RuntimeError", "exc_value": "no rows", "exc_notes": [], "syntax_error": null, "is_cause": false, "frames": [{"filename": "/srv/script/1/batch.py", "lineno": 4, "name": "run", "locals": {"log": "<function <lambda> at 0x7fc518ff19e0>"}}, {"filename": "/srv/script/1/lib/load.py", "lineno": 5, "name": "rows", "locals": {"text": "'n/a'"}}], "is_group": false, "exceptions": []}, {"exc_type": "ValueError", "exc_value": "could not convert string to float: 'n/a'", "exc_notes": [], "syntax_error": null, "is_cause": true, "frames": [{"filename": "/srv/script/1/lib/load.py", "lineno": 3, "name": "rows", "locals": {"text": "'n/a'"}}], "is_group": false, "exceptions": []}]}`;
/** An exception group in the same format. */
export const structlogGroup = String.raw`{"event": "group", "level": "error", "exception": [{"exc_type": "ExceptionGroup", "exc_value": "all (2 sub-exceptions)", "exc_notes": [], "syntax_error": null, "is_cause": false, "frames": [{"filename": "/srv/script/1/batch.py", "lineno": 17, "name": "<module>", "locals": {"rows": "<function rows at 0x7fc518ff1a80>", "run": "<function run at 0x7fc5191b84a0>", "structlog": "<module 'structlog' from '/tmp/exits/v/lib/python3.11/site-packages/structlog/__init__.py'>", "logging": "<module 'logging' from '/root/.pyenv/versions/3.11.7/lib/python3.11/logging/__init__.py'>", "log": "<BoundLoggerLazyProxy(logger=None, wrapper_class=None, processors=None, context_class=None, initial_values={}, logger_factory_args=())>"}}], "is_group": true, "exceptions": [[{"exc_type": "ValueError", "exc_value": "one", "exc_notes": [], "syntax_error": null, "is_cause": false, "frames": [], "is_group": false, "exceptions": []}], [{"exc_type": "TypeError", "exc_value": "two", "exc_notes": [], "syntax_error": null, "is_cause": false, "frames": [], "is_group": false, "exceptions": []}]]}]}`;
/** structlog with colors and plain tracebacks. */
export const structlogConsole = String.raw`${esc}[2m2026-11-28T09:20:26.359065Z${esc}[0m [${esc}[31m${esc}[1merror    ${esc}[0m] ${esc}[1mnot loaded                    ${esc}[0m ${esc}[36mjob${esc}[0m=${esc}[35m7${esc}[0m
Traceback (most recent call last):
  File "/srv/script/1/lib/load.py", line 3, in rows
    return float(text)
           ^^^^^^^^^^^
ValueError: could not convert string to float: 'n/a'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/script/1/main2.py", line 4, in run
    rows("n/a")
  File "/srv/script/1/lib/load.py", line 5, in rows
    raise RuntimeError("no rows") from error
RuntimeError: no rows`;
/** structlog with tracebacks from rich, which is the default if rich is installed. */
export const structlogRich = String.raw`2026-11-28 09:20:26 [error    ] not loaded                     job=7
╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /srv/script/1/lib/load.py:3 in rows                                          │
│                                                                              │
│   1 def rows(text):                                                          │
│   2 │   try:                                                                 │
│ ❱ 3 │   │   return float(text)                                               │
│   4 │   except ValueError as error:                                          │
│   5 │   │   raise RuntimeError("no rows") from error                         │
│   6                                                                          │
│                                                                              │
│ ╭─── locals ───╮                                                             │
│ │ text = 'n/a' │                                                             │
│ ╰──────────────╯                                                             │
╰──────────────────────────────────────────────────────────────────────────────╯
ValueError: could not convert string to float: 'n/a'

The above exception was the direct cause of the following exception:

╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /srv/script/1/main.py:4 in run                                               │
│                                                                              │
│    1 from lib.load import rows                                               │
│    2 def run(log):                                                           │
│    3 │   try:                                                                │
│ ❱  4 │   │   rows("n/a")                                                     │
│    5 │   except RuntimeError:                                                │
│    6 │   │   log()                                                           │
│    7                                                                         │
│                                                                              │
│ /srv/script/1/lib/load.py:5 in rows                                          │
│                                                                              │
│   2 │   try:                                                                 │
│   3 │   │   return float(text)                                               │
│   4 │   except ValueError as error:                                          │
│ ❱ 5 │   │   raise RuntimeError("no rows") from error                         │
│   6                                                                          │
│                                                                              │
│ ╭─── locals ───╮                                                             │
│ │ text = 'n/a' │                                                             │
│ ╰──────────────╯                                                             │
╰──────────────────────────────────────────────────────────────────────────────╯
RuntimeError: no rows`;
/** loguru with its default format. */
export const loguru = String.raw`2026-11-28 09:20:26.530 | ERROR    | __main__:<lambda>:9 - not loaded
Traceback (most recent call last):

  File "/srv/script/1/lib/load.py", line 3, in rows
    return float(text)
                 └ 'n/a'

ValueError: could not convert string to float: 'n/a'


The above exception was the direct cause of the following exception:


Traceback (most recent call last):

  File "/srv/script/1/lg.py", line 9, in <module>
    run(lambda: logger.exception("not loaded"))
    │           │      └ <function Logger.exception at 0x7f9e0b1de7a0>
    │           └ <loguru.logger handlers=[(id=0, level=10, sink=<stderr>)]>
    └ <function run at 0x7f9e0bed84a0>

> File "/srv/script/1/lg.py", line 4, in run
    rows("n/a")
    └ <function rows at 0x7f9e0bd35a80>

  File "/srv/script/1/lib/load.py", line 5, in rows
    raise RuntimeError("no rows") from error

RuntimeError: no rows`;
/** An exception group in the same format. */
export const loguruGroup = String.raw`2026-11-28 09:20:26.534 | ERROR    | __main__:<module>:14 - group
  + Exception Group Traceback (most recent call last):
  |
  | > File "/srv/script/1/lg.py", line 12, in <module>
  |     raise ExceptionGroup("all", [ValueError("one"), TypeError("two")])
  |
  | ExceptionGroup: all (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | ValueError: one
    +---------------- 2 ----------------
    | TypeError: two
    +------------------------------------`;
/** loguru with `serialize=True`. */
export const loguruJson = String.raw`{"text": "2026-11-28 09:20:26.661 | ERROR    | __main__:<lambda>:11 - not loaded\nTraceback (most recent call last):\n\n  File \"/srv/script/1/lib/load.py\", line 3, in rows\n    return float(text)\n                 └ 'n/a'\n\nValueError: could not convert string to float: 'n/a'\n\n\nThe above exception was the direct cause of the following exception:\n\n\nTraceback (most recent call last):\n\n  File \"/srv/script/1/lgj.py\", line 11, in <module>\n    run(lambda: logger.exception(\"not loaded\"))\n    │           │      └ <function Logger.exception at 0x7fa3aa0d67a0>\n    │           └ <loguru.logger handlers=[(id=1, level=10, sink=<stderr>)]>\n    └ <function run at 0x7fa3aae804a0>\n\n> File \"/srv/script/1/lgj.py\", line 4, in run\n    rows(\"n/a\")\n    └ <function rows at 0x7fa3aac99a80>\n\n  File \"/srv/script/1/lib/load.py\", line 5, in rows\n    raise RuntimeError(\"no rows\") from error\n\nRuntimeError: no rows\n", "record": {"elapsed": {"repr": "0:00:00.011998", "seconds": 0.011998}, "exception": {"type": "RuntimeError", "value": "no rows", "traceback": true}, "extra": {}, "file": {"name": "lgj.py", "path": "/srv/script/1/lgj.py"}, "function": "<lambda>", "level": {"icon": "❌", "name": "ERROR", "no": 40}, "line": 11, "message": "not loaded", "module": "lgj", "name": "__main__", "process": {"id": 17403, "name": "MainProcess"}, "thread": {"id": 140340933409664, "name": "MainThread"}, "time": {"repr": "2026-11-28 09:20:26.661377+00:00", "timestamp": 1795857626.661377}}}`;
/** `Console.print_exception` from rich. */
export const rich = String.raw`╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /srv/script/1/lib/load.py:3 in rows                                          │
│                                                                              │
│   1 def rows(text):                                                          │
│   2 │   try:                                                                 │
│ ❱ 3 │   │   return float(text)                                               │
│   4 │   except ValueError as error:                                          │
│   5 │   │   raise RuntimeError("no rows") from error                         │
│   6                                                                          │
╰──────────────────────────────────────────────────────────────────────────────╯
ValueError: could not convert string to float: 'n/a'

The above exception was the direct cause of the following exception:

╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /srv/script/1/rc.py:4 in run                                                 │
│                                                                              │
│    1 from lib.load import rows                                               │
│    2 def run(log):                                                           │
│    3 │   try:                                                                │
│ ❱  4 │   │   rows("n/a")                                                     │
│    5 │   except RuntimeError:                                                │
│    6 │   │   log()                                                           │
│    7                                                                         │
│                                                                              │
│ /srv/script/1/lib/load.py:5 in rows                                          │
│                                                                              │
│   2 │   try:                                                                 │
│   3 │   │   return float(text)                                               │
│   4 │   except ValueError as error:                                          │
│ ❱ 5 │   │   raise RuntimeError("no rows") from error                         │
│   6                                                                          │
╰──────────────────────────────────────────────────────────────────────────────╯
RuntimeError: no rows`;
/** The same traceback with wrapped lines. */
export const richWrapped = String.raw`╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /srv/script/1/rc.py:17 in <module>                                           │
│                                                                              │
│   14 except ValueError:                                                      │
│   15 │   c.print_exception()                                                 │
│   16 try:                                                                    │
│ ❱ 17 │   import json; json.loads("{")                                        │
│   18 except ValueError:                                                      │
│   19 │   c.print_exception()                                                 │
│   20                                                                         │
│                                                                              │
│ /root/.pyenv/versions/3.11.7/lib/python3.11/json/__init__.py:346 in loads    │
│                                                                              │
│   343 │   if (cls is None and object_hook is None and                        │
│   344 │   │   │   parse_int is None and parse_float is None and              │
│   345 │   │   │   parse_constant is None and object_pairs_hook is None and n │
│ ❱ 346 │   │   return _default_decoder.decode(s)                              │
│   347 │   if cls is None:                                                    │
│   348 │   │   cls = JSONDecoder                                              │
│   349 │   if object_hook is not None:                                        │
│                                                                              │
│ /root/.pyenv/versions/3.11.7/lib/python3.11/json/decoder.py:337 in decode    │
│                                                                              │
│   334 │   │   containing a JSON document).                                   │
│   335 │   │                                                                  │
│   336 │   │   """                                                            │
│ ❱ 337 │   │   obj, end = self.raw_decode(s, idx=_w(s, 0).end())              │
│   338 │   │   end = _w(s, end).end()                                         │
│   339 │   │   if end != len(s):                                              │
│   340 │   │   │   raise JSONDecodeError("Extra data", s, end)                │
│                                                                              │
│ /root/.pyenv/versions/3.11.7/lib/python3.11/json/decoder.py:353 in           │
│ raw_decode                                                                   │
│                                                                              │
│   350 │   │                                                                  │
│   351 │   │   """                                                            │
│   352 │   │   try:                                                           │
│ ❱ 353 │   │   │   obj, end = self.scan_once(s, idx)                          │
│   354 │   │   except StopIteration as err:                                   │
│   355 │   │   │   raise JSONDecodeError("Expecting value", s, err.value) fro │
│   356 │   │   return obj, end                                                │
╰──────────────────────────────────────────────────────────────────────────────╯
JSONDecodeError: Expecting property name enclosed in double quotes: line 1 
column 2 (char 1)`;
/** `RichHandler` from rich, with `rich_tracebacks=True`. */
export const richHandler = String.raw`[11/28/26 09:20:27] ERROR    not loaded                                 rh.py:11
                             ╭── Traceback (most recent call last) ───╮         
                             │ /srv/script/1/lib/load.py:3 in rows    │         
                             │                                        │         
                             │   1 def rows(text):                    │         
                             │   2 │   try:                           │         
                             │ ❱ 3 │   │   return float(text)         │         
                             │   4 │   except ValueError as error:    │         
                             │   5 │   │   raise RuntimeError("no row │         
                             │   6                                    │         
                             ╰────────────────────────────────────────╯         
                             ValueError: could not convert string to            
                             float: 'n/a'                                       
                                                                                
                             The above exception was the direct cause           
                             of the following exception:                        
                                                                                
                             ╭── Traceback (most recent call last) ───╮         
                             │ /srv/script/1/rh.py:4 in run           │         
                             │                                        │         
                             │    1 from lib.load import rows         │         
                             │    2 def run(log):                     │         
                             │    3 │   try:                          │         
                             │ ❱  4 │   │   rows("n/a")               │         
                             │    5 │   except RuntimeError:          │         
                             │    6 │   │   log()                     │         
                             │    7                                   │         
                             │                                        │         
                             │ /srv/script/1/lib/load.py:5 in rows    │         
                             │                                        │         
                             │   2 │   try:                           │         
                             │   3 │   │   return float(text)         │         
                             │   4 │   except ValueError as error:    │         
                             │ ❱ 5 │   │   raise RuntimeError("no row │         
                             │   6                                    │         
                             ╰────────────────────────────────────────╯         
                             RuntimeError: no rows                              `;
