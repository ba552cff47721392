// Long because each kind of failure is an entry.
/** Scripts that fail in many ways, each with the error that a user must see. */
export interface FailingScript {
  /** The kind of failure. */
  readonly name: string;
  readonly files: string | Readonly<Record<string, string>>;
  readonly settings?: object;
  readonly type: string;
  readonly message: RegExp;
  /** The innermost frame in the script's own code, as `file:line function: code`. */
  readonly place?: string;
  /** The exceptions that led to this one, indented by two spaces per level of depth. */
  readonly causes?: readonly string[];
  readonly source: 'hook' | 'log' | 'platform';
}

const limits = (of: object) => ({ limits: of });

export const failingScripts: readonly FailingScript[] = [
  {
    name: 'division by zero',
    files: 'x = 1\nx / 0',
    type: 'ZeroDivisionError',
    message: /^division by zero$/,
    place: 'main.py:2 <module>: x / 0',
    source: 'hook',
  },
  {
    name: 'missing key in a function',
    files: 'def load(row):\n    return row["k"]\n\nload({})',
    type: 'KeyError',
    message: /^'k'$/,
    place: 'main.py:2 load: return row["k"]',
    source: 'hook',
  },
  {
    name: 'assertion',
    files: 'assert 1 == 2, "sums"',
    type: 'AssertionError',
    message: /^sums$/,
    place: 'main.py:1 <module>: assert 1 == 2, "sums"',
    source: 'hook',
  },
  {
    name: 'own exception with a message of two lines',
    files: 'class Mine(Exception): pass\nraise Mine("a\\nb")',
    type: 'Mine',
    message: /^a\nb$/,
    place: 'main.py:2 <module>: raise Mine("a\\nb")',
    source: 'hook',
  },
  {
    name: 'missing module',
    files: 'import nowhere_at_all',
    type: 'ModuleNotFoundError',
    message: /nowhere_at_all/,
    place: 'main.py:1 <module>: import nowhere_at_all',
    source: 'hook',
  },
  {
    name: 'exception in the standard library',
    files: 'import json\n\njson.loads("{")',
    type: 'json.decoder.JSONDecodeError',
    message: /column 2/,
    place: 'main.py:3 <module>: json.loads("{")',
    source: 'hook',
  },
  {
    name: 'missing file',
    files: 'open("/nothing/here")',
    type: 'FileNotFoundError',
    message: /nothing\/here/,
    place: 'main.py:1 <module>: open("/nothing/here")',
    source: 'hook',
  },
  {
    name: 'undecodable bytes',
    files: 'b"\\xff".decode()',
    type: 'UnicodeDecodeError',
    message: /invalid start byte/,
    place: 'main.py:1 <module>: b"\\xff".decode()',
    source: 'hook',
  },
  {
    name: 'endless recursion',
    files: 'def f():\n    f()\n\nf()',
    type: 'RecursionError',
    message: /recursion/,
    place: 'main.py:2 f: f()',
    source: 'hook',
  },
  {
    name: 'syntax error',
    files: 'x = 1\nx = = 2',
    type: 'SyntaxError',
    message: /^invalid syntax$/,
    place: 'main.py:2 <module>: x = = 2',
    source: 'hook',
  },
  {
    name: 'wrong indentation',
    files: 'if True:\nprint(1)',
    type: 'IndentationError',
    message: /indent/,
    place: 'main.py:2 <module>: print(1)',
    source: 'hook',
  },
  {
    name: 'syntax error in a module',
    files: { 'main.py': 'import lib.broken', 'lib/broken.py': 'a = 1\nb = (2,\n' },
    type: 'SyntaxError',
    message: /never closed/,
    place: 'lib/broken.py:2 <module>: b = (2,',
    source: 'hook',
  },
  {
    name: 'exception with a cause, in a module',
    files: {
      'main.py': 'from lib.load import rows\nrows("n/a")\n',
      'lib/load.py': `def rows(text):
    try:
        return float(text)
    except ValueError as error:
        raise RuntimeError("no rows") from error
`,
    },
    type: 'RuntimeError',
    message: /^no rows$/,
    place: 'lib/load.py:5 rows: raise RuntimeError("no rows") from error',
    causes: ['cause ValueError lib/load.py:3 rows: return float(text)'],
    source: 'hook',
  },
  {
    name: 'exception while handling another one',
    files: 'try:\n    {}["k"]\nexcept KeyError:\n    1 / 0',
    type: 'ZeroDivisionError',
    message: /^division by zero$/,
    place: 'main.py:4 <module>: 1 / 0',
    causes: ['context KeyError main.py:2 <module>: {}["k"]'],
    source: 'hook',
  },
  {
    name: 'exception group',
    files: `def one():
    raise ValueError("one")
try:
    one()
except ValueError as error:
    raise ExceptionGroup("both", [error, TypeError("two")]) from None`,
    type: 'ExceptionGroup',
    message: /^both \(2 sub-exceptions\)$/,
    place: 'main.py:6 <module>: raise ExceptionGroup("both", [error, TypeError("two")]) from None',
    causes: ['member ValueError main.py:2 one: raise ValueError("one")', 'member TypeError'],
    source: 'hook',
  },
  {
    name: 'exception group in a group',
    files: `raise ExceptionGroup("all", [
    ExceptionGroup("rows", [ValueError("one"), KeyError("two")]),
    OSError("disk"),
])`,
    type: 'ExceptionGroup',
    message: /^all \(2 sub-exceptions\)$/,
    place:
      'main.py:1 <module>: raise ExceptionGroup("all", [ ExceptionGroup("rows", [ValueError("one"), KeyError("two")]), OSError("disk"), ])',
    causes: ['member ExceptionGroup', '  member ValueError', '  member KeyError', 'member OSError'],
    source: 'hook',
  },
  {
    name: 'exception group with more members than are kept',
    files: `many = [ValueError(str(row)) for row in range(30)]
raise ExceptionGroup("many", [*many, ExceptionGroup("inner", [OSError(5, "disk")])])`,
    type: 'ExceptionGroup',
    message: /^many \(31 sub-exceptions\)$/,
    place:
      'main.py:2 <module>: raise ExceptionGroup("many", [*many, ExceptionGroup("inner", [OSError(5, "disk")])])',
    causes: [
      ...Array.from({ length: 8 }, () => 'member ValueError'),
      '22 omitted',
      'member ExceptionGroup',
      '  member OSError',
    ],
    source: 'hook',
  },
  {
    name: 'exception with a note',
    files: 'error = ValueError("bad row")\nerror.add_note("row 7")\nraise error',
    type: 'ValueError',
    message: /^bad row\nrow 7$/,
    place: 'main.py:3 <module>: raise error',
    source: 'hook',
  },
  {
    name: 'exit with a message',
    files: 'import sys\n\ndef check():\n    sys.exit("no input")\n\ncheck()',
    type: 'SystemExit',
    message: /^no input$/,
    place: 'main.py:4 check: sys.exit("no input")',
    source: 'hook',
  },
  {
    name: 'exit with a code',
    files: 'import sys\nsys.exit(3)',
    type: 'SystemExit',
    message: /^exit code 3$/,
    place: 'main.py:2 <module>: sys.exit(3)',
    source: 'hook',
  },
  {
    name: 'exit while handling an exception',
    files: 'import sys\ntry:\n    {}["acct"]\nexcept KeyError:\n    sys.exit(1)',
    type: 'SystemExit',
    message: /^exit code 1: KeyError: 'acct'$/,
    place: 'main.py:5 <module>: sys.exit(1)',
    causes: ['context KeyError main.py:3 <module>: {}["acct"]'],
    source: 'hook',
  },
  {
    name: 'exit by the built-in function',
    files: 'try:\n    1 / 0\nexcept ArithmeticError:\n    exit("no result")',
    type: 'SystemExit',
    message: /^no result$/,
    place: 'main.py:4 <module>: exit("no result")',
    causes: ['context ZeroDivisionError main.py:2 <module>: 1 / 0'],
    source: 'hook',
  },
  {
    name: 'exit with a truth value',
    files: 'import sys\nsys.exit(True)',
    type: 'SystemExit',
    message: /^exit code 1$/,
    place: 'main.py:2 <module>: sys.exit(True)',
    source: 'hook',
  },
  {
    name: 'exit with an empty text',
    files: 'import sys\nsys.exit("")',
    type: 'SystemExit',
    message: /^exit code 1$/,
    place: 'main.py:2 <module>: sys.exit("")',
    source: 'hook',
  },
  {
    name: 'SystemExit without a call of sys.exit',
    files: 'raise SystemExit("nothing to do")',
    type: 'SystemExit',
    message: /^nothing to do$/,
    source: 'log',
  },
  {
    name: 'missing argument of a command line parser',
    files: `import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--day", required=True)
parser.parse_args()`,
    type: 'SystemExit',
    message: /^exit code 2: main\.py: error: the following arguments are required: --day$/,
    place: 'main.py:4 <module>: parser.parse_args()',
    source: 'hook',
  },
  {
    name: 'exit with a message after an error in the log',
    files: 'import logging, sys\nlogging.error("row 7 is empty")\nsys.exit("no input")',
    type: 'SystemExit',
    message: /^no input$/,
    place: 'main.py:3 <module>: sys.exit("no input")',
    source: 'hook',
  },
  {
    name: 'SystemExit after a logged exception',
    files: `import logging
try:
    float("n/a")
except ValueError:
    logging.exception("not loaded")
raise SystemExit(1)`,
    type: 'SystemExit',
    message: /^exit code 1$/,
    causes: ['context ValueError main.py:3 <module>: float("n/a")'],
    source: 'log',
  },
  {
    name: 'SystemExit after an exception in a JSON record',
    files: `import json, sys, traceback
try:
    float("n/a")
except ValueError:
    record = {"level": "error", "event": "not loaded", "exception": traceback.format_exc()}
    print(json.dumps(record), file=sys.stderr)
raise SystemExit(2)`,
    type: 'SystemExit',
    message: /^exit code 2$/,
    causes: ['context ValueError main.py:3 <module>: float("n/a")'],
    source: 'log',
  },
  {
    name: 'exit after an exception on stdout',
    files: `import sys, traceback
try:
    float("n/a")
except ValueError:
    traceback.print_exc(file=sys.stdout)
sys.exit(2)`,
    type: 'SystemExit',
    message: /^exit code 2: ValueError: could not convert/,
    place: 'main.py:6 <module>: sys.exit(2)',
    causes: ['context ValueError main.py:3 <module>: float("n/a")'],
    source: 'hook',
  },
  {
    name: 'SystemExit with a text after a printed exception',
    files: `import traceback
try:
    float("n/a")
except ValueError:
    traceback.print_exc()
raise SystemExit("no input")`,
    type: 'SystemExit',
    message: /^no input$/,
    causes: ['context ValueError main.py:3 <module>: float("n/a")'],
    source: 'log',
  },
  {
    name: 'SystemExit after an error in a JSON record',
    files: `import sys
print('{"level": "error", "message": "disk is full"}', file=sys.stderr)
raise SystemExit(1)`,
    type: 'SystemExit',
    message: /^exit code 1: ERROR: disk is full$/,
    source: 'log',
  },
  {
    name: 'exit with an exception as its status',
    files: 'import sys\nsys.exit(OSError("no input"))',
    type: 'SystemExit',
    message: /^no input$/,
    place: 'main.py:2 <module>: sys.exit(OSError("no input"))',
    source: 'hook',
  },
  {
    name: 'watchdog of faulthandler',
    files: `import faulthandler, time

def load():
    time.sleep(60)

faulthandler.dump_traceback_later(1, exit=True)
load()`,
    type: 'exit_code',
    message: /^The script exited with exit code 1. faulthandler: Timeout \(0:00:01\)!$/,
    place: 'main.py:4 load: ',
    source: 'platform',
  },
  {
    name: 'exception whose text is on several lines',
    files: 'name = "Ada"\n\nraise ValueError(\n    f"no rows of {name}"\n)',
    type: 'ValueError',
    message: /^no rows of Ada$/,
    place: 'main.py:3 <module>: raise ValueError( f"no rows of {name}" )',
    source: 'hook',
  },
  {
    name: 'exception with a cause in a process of a pool',
    files: `from concurrent.futures import ProcessPoolExecutor

def work(text):
    try:
        float(text)
    except ValueError as error:
        raise RuntimeError("no rows") from error

if __name__ == "__main__":
    with ProcessPoolExecutor(1) as pool:
        pool.submit(work, "n/a").result()`,
    type: 'RuntimeError',
    message: /^no rows$/,
    place: 'main.py:11 <module>: pool.submit(work, "n/a").result()',
    causes: [
      'cause RuntimeError main.py:7 work: raise RuntimeError("no rows") from error',
      '  cause ValueError main.py:5 work: float(text)',
    ],
    source: 'hook',
  },
  {
    name: 'traceback as the text of an exception in a process of a pool',
    files: `from multiprocessing import Pool
import traceback

def work(text):
    try:
        float(text)
    except ValueError:
        text = traceback.format_exc()
    raise RuntimeError(text)

if __name__ == "__main__":
    with Pool(1) as pool:
        pool.map(work, ["n/a"])`,
    type: 'RuntimeError',
    message: /^Traceback \(most recent call last\):[^]*ValueError: could not convert/,
    place: 'main.py:13 <module>: pool.map(work, ["n/a"])',
    causes: ['cause RuntimeError main.py:9 work: raise RuntimeError(text)'],
    source: 'hook',
  },
  {
    name: 'segmentation fault with faulthandler',
    files: `import ctypes, faulthandler

def read():
    ctypes.string_at(0)

faulthandler.enable()
read()`,
    type: 'exit_code',
    message: /^The script was killed by SIGSEGV. Fatal Python error: Segmentation fault$/,
    place: 'main.py:4 read: ',
    source: 'platform',
  },
  {
    name: 'full file system',
    files: 'open("/dev/full", "w", buffering=1).write("row\\n")',
    type: 'OSError',
    message: /^\[Errno 28\] No space left on device \(the disk .* is full\)$/,
    place: 'main.py:1 <module>: open("/dev/full", "w", buffering=1).write("row\\n")',
    source: 'hook',
  },
  {
    name: 'immediate exit',
    files: 'import os\nos._exit(4)',
    type: 'exit_code',
    message: /exit code 4/,
    source: 'platform',
  },
  {
    name: 'segmentation fault',
    files: 'import os\nos.kill(os.getpid(), 11)',
    type: 'exit_code',
    message: /SIGSEGV/,
    source: 'platform',
  },
  {
    name: 'interrupt',
    files: 'raise KeyboardInterrupt',
    type: 'KeyboardInterrupt',
    message: /^$/,
    place: 'main.py:1 <module>: raise KeyboardInterrupt',
    source: 'hook',
  },
  {
    name: 'exception in an asyncio task',
    files: `import asyncio

async def fetch():
    raise ConnectionError("gone")

async def main():
    await asyncio.create_task(fetch())

asyncio.run(main())`,
    type: 'ConnectionError',
    message: /^gone$/,
    place: 'main.py:4 fetch: raise ConnectionError("gone")',
    source: 'hook',
  },
  {
    name: 'exception in a thread of a pool',
    files: `from concurrent.futures import ThreadPoolExecutor

def work(n):
    return 1 / n

with ThreadPoolExecutor() as pool:
    list(pool.map(work, [1, 0]))`,
    type: 'ZeroDivisionError',
    message: /^division by zero$/,
    place: 'main.py:4 work: return 1 / n',
    source: 'hook',
  },
  {
    name: 'failed command',
    files: `import subprocess, sys
subprocess.run([sys.executable, "-c", "raise ValueError('of the child')"], check=True)`,
    type: 'subprocess.CalledProcessError',
    message: /returned non-zero exit status 1/,
    place:
      'main.py:2 <module>: subprocess.run([sys.executable, "-c", "raise ValueError(\'of the child\')"], check=True)',
    source: 'hook',
  },
  {
    name: 'exception that the script reports itself',
    files: `import sys
from orchestrator import Platform

try:
    float("n/a")
except ValueError as error:
    Platform().report(error)
    sys.exit(1)`,
    type: 'ValueError',
    message: /could not convert/,
    place: 'main.py:5 <module>: float("n/a")',
    source: 'hook',
  },
  {
    name: 'exception of a script with a hook of its own',
    files: 'import sys\nsys.excepthook = lambda *_: print("sorry")\n\nraise OSError("disk")',
    type: 'OSError',
    message: /^disk$/,
    place: 'main.py:4 <module>: raise OSError("disk")',
    source: 'hook',
  },
  {
    name: 'exception of a script without stderr',
    files: 'import os\nos.close(2)\n1 / 0',
    type: 'ZeroDivisionError',
    message: /^division by zero$/,
    place: 'main.py:3 <module>: 1 / 0',
    source: 'hook',
  },
  {
    name: 'exception after the report became impossible',
    files: 'import os\nos.environ.pop("ORCH_SOCKET")\n1 / 0',
    type: 'ZeroDivisionError',
    message: /^division by zero$/,
    place: 'main.py:3 <module>: 1 / 0',
    source: 'log',
  },
  {
    name: 'time limit',
    files: 'import time\ntime.sleep(60)',
    settings: limits({ wall_clock_seconds: 1 }),
    type: 'timeout',
    message: /1 s/,
    source: 'platform',
  },
  {
    name: 'CPU limit',
    files: 'while True: pass',
    settings: limits({ cpu_seconds: 1 }),
    type: 'cpu_limit',
    message: /CPU/,
    source: 'platform',
  },
  {
    name: 'memory limit',
    files: 'held = bytearray(512 * 1024 * 1024)',
    settings: limits({ memory_bytes: 64 * 1024 * 1024 }),
    type: 'memory_limit',
    message: /./,
    source: 'platform',
  },
  {
    name: 'exception after a MemoryError',
    files: `try:
    bytearray(1 << 60)
except MemoryError as error:
    raise RuntimeError("no report") from error`,
    type: 'RuntimeError',
    message: /^no report \(after a MemoryError\)$/,
    place: 'main.py:4 <module>: raise RuntimeError("no report") from error',
    causes: ['cause MemoryError main.py:2 <module>: bytearray(1 << 60)'],
    source: 'hook',
  },
  {
    name: 'exception in a file that the script has overwritten',
    files: 'with open(__file__, "w") as file:\n    file.write("print()\\n" * 9)\n1 / 0',
    type: 'ZeroDivisionError',
    message: /^division by zero$/,
    place: 'main.py:3 <module>: 1 / 0',
    source: 'hook',
  },
  {
    name: 'message of 5 MB',
    files: 'raise ValueError("x" * 5_000_000)',
    type: 'ValueError',
    message: /^x{4000,}… \(truncated\)$/,
    place: 'main.py:1 <module>: raise ValueError("x" * 5_000_000)',
    source: 'hook',
  },
  {
    name: 'class whose name has control characters',
    files: 'raise type("Odd\\n\\x1b[31mname", (Exception,), {})("odd")',
    type: 'Odd\uFFFD\uFFFD[31mname',
    message: /^odd$/,
    place: 'main.py:1 <module>: raise type("Odd\\n\\x1b[31mname", (Exception,), {})("odd")',
    source: 'hook',
  },
  {
    name: 'invalid requirement',
    files: { 'main.py': 'print(1)', 'requirements.txt': 'no such requirement !!\n' },
    type: 'environment_error',
    message: /./,
    source: 'platform',
  },
];
