/** Scripts that must behave the same in cold and warm interpreters, by description. */
import type { Files } from './warm-bench.ts';

const one = (source: string): Files => ({ 'main.py': source });

const endings: Readonly<Record<string, Files>> = {
  'ends normally': one("print('done')"),
  'sys.exit()': one('import sys; sys.exit()'),
  'sys.exit(5)': one('import sys; sys.exit(5)'),
  'sys.exit(text)': one("import sys; sys.exit('told why')"),
  'sys.exit(None)': one('import sys; sys.exit(None)'),
  'sys.exit(object)': one('import sys; sys.exit((1, 2))'),
  'SystemExit in a function': one('def f():\n    raise SystemExit(300)\nf()'),
  'os._exit': one("import os; print('seen'); os._exit(9)"),
  'os.abort': one('import os; os.abort()'),
  'SIGKILL of itself': one('import os, signal; os.kill(os.getpid(), signal.SIGKILL)'),
  'SIGTERM of itself': one('import os, signal; os.kill(os.getpid(), signal.SIGTERM)'),
  'SIGINT of itself': one('import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nprint(1)'),
  'SIGPIPE is an error': one('import os\nr, w = os.pipe()\nos.close(r)\nos.write(w, b"x")'),
  'an exception': one('def f(x):\n    return 1 / x\n\n\nf(0)'),
  'exceptions with causes': one(
    "try:\n    {}['a']\nexcept KeyError as error:\n    raise ValueError('second') from error",
  ),
  'an exception without end': one('def f():\n    f()\n\n\nf()'),
  'an exception of a neighbouring module': {
    'main.py': 'import neighbour',
    'neighbour.py': 'assert 1 == 2',
  },
  'its own excepthook': one(
    'import sys\nsys.excepthook = lambda *found: print("hook", found[1])\nraise ValueError(1)',
  ),
  atexit: one(
    "import atexit\natexit.register(print, 'first')\natexit.register(print, 'second')\natexit.register(lambda: 1 / 0)",
  ),
  'threads at its end': one(
    `import threading, time, atexit
atexit.register(print, 'exit')
def late():
    threading.main_thread().join()
    print('thread')
threading.Thread(target=late).start()
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print('main')`,
  ),
  'what is destroyed at its end': one(
    `import os
class Loud:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        os.write(1, b'gone ' + self.name + b'\\n')
one = Loud(b'one')
cycle = Loud(b'cycle')
cycle.itself = cycle
file = open('/dev/stdout', 'w')
file.write('never closed\\n')
unseen = open('/dev/fd/2', 'w', buffering=4096)
unseen.write('nor this\\n')`,
  ),
  'what it put into a module of the library is destroyed too': one(
    `import json, os
class Loud:
    def __del__(self):
        os.write(1, b'gone')
json.put_there = Loud()`,
  ),
  'an exception in a thread': one(
    'import threading\nt = threading.Thread(target=lambda: 1 / 0, name="T")\nt.start()\nt.join()',
  ),
};

const texts: Readonly<Record<string, Files>> = {
  SyntaxError: one('print(1)\nif True print(2)\n'),
  IndentationError: one('def f():\nreturn 1\n'),
  'an empty file': one(''),
  'NUL in its text': one('print(1)\0'),
  'a byte order mark': one('\uFEFFprint("ä")'),
  'an encoding of its own': {
    'main.py': Buffer.from('# -*- coding: latin-1 -*-\nprint("\u00e4")', 'latin1'),
  },
  'a missing encoding': one('# -*- coding: nowhere -*-\nprint(1)'),
  'text that is not UTF-8': { 'main.py': Buffer.from('print("\u00e4")', 'latin1') },
  'future and annotations': one(
    'from __future__ import annotations\nx: int = 1\nprint(globals().get("__annotations__"))',
  ),
  warnings: one('import warnings\nwarnings.warn("old", DeprecationWarning)\nwarnings.warn("u")'),
  'where it stands': one(
    `import traceback, inspect, sys, faulthandler
traceback.print_stack()
print(len(inspect.stack()), sys._getframe().f_back)
faulthandler.dump_traceback()`,
  ),
  'how deep it may go': one(
    'def f(n):\n    try:\n        return f(n + 1)\n    except RecursionError:\n        return n\nprint(f(0))',
  ),
};

const modules: Readonly<Record<string, Files>> = {
  'neighbouring modules': {
    'main.py':
      'import neighbour, pack.inner, json\nprint(neighbour.__file__, pack.inner.x, json.__file__)',
    'neighbour.py': 'import sys\nprint(__name__, sys.path[0])',
    'pack/__init__.py': '',
    'pack/inner.py': 'from . import other\nx = other.y',
    'pack/other.py': 'import os\ny = os.path.exists("__pycache__")',
  },
  'itself, imported by its name': one(
    'import main as again, __main__\nprint(again is __main__, again.__name__)',
  ),
  'a missing module': one('import nowhere'),
  'one of the library that nothing preloads': {
    'main.py': 'import turtle',
    'turtle.py': 'print(1)',
  },
  'import system': one(
    `import importlib, sys, pkgutil
print(importlib.util.find_spec('json').origin, sys.modules['os'].__spec__.loader)
importlib.reload(__import__('json'))
print([type(f).__name__ for f in sys.path_hooks], [str(f) for f in sys.meta_path])`,
  ),
  logging: one(
    `import logging
logging.basicConfig(level='INFO', format='%(levelname)s %(name)s %(filename)s:%(lineno)d %(message)s')
logging.info('one')
record = logging.makeLogRecord({})
print(record.process > 0, record.relativeCreated < 10_000)`,
  ),
  'random is not shared': one(
    'import random\nrandom.seed(7)\nprint(random.random())\nprint(random.Random(1).random())',
  ),
  'locale and time': one(
    "import locale, time\nprint(locale.setlocale(locale.LC_ALL, ''), time.strftime('%Z'))\nprint(locale.getpreferredencoding())",
  ),
  'its variables': one(
    "import os, subprocess\nos.environ['NEW'] = '1'\ndel os.environ['NAME']\nprint(sorted(os.environ.items()))\nprint(subprocess.check_output(['env']).decode())",
  ),
};

const processes: Readonly<Record<string, Files>> = {
  subprocess: one(
    `import subprocess, sys
code = 'import sys; print(sys.path, sys.flags, sys.prefix, sys.stdin.read())'
print(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, input='in'))
print(subprocess.run('exit 3', shell=True).returncode)`,
  ),
  fork: one(
    "import os\npid = os.fork()\nif pid == 0:\n    print('child', flush=True)\n    os._exit(4)\nprint(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))",
  ),
  'another program in its place': one(
    "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'import os; print(os.listdir(\"/proc/self/fd\"))'])",
  ),
  multiprocessing: one(
    `import multiprocessing as mp
class Thing:
    value = 3
def work(thing):
    return thing.value, __name__
if __name__ == '__main__':
    for method in ('fork', 'spawn', 'forkserver'):
        with mp.get_context(method).Pool(1) as pool:
            print(method, pool.map(work, [Thing()]))`,
  ),
  'concurrent.futures': one(
    `from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
if __name__ == '__main__':
    for kind in (ThreadPoolExecutor, ProcessPoolExecutor):
        with kind(2) as pool:
            print(list(pool.map(abs, [-1, 2])))`,
  ),
  asyncio: one(
    `import asyncio, sys, signal
async def main():
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, print, 'signalled')
    child = await asyncio.create_subprocess_exec(sys.executable, '-c', 'print(5)', stdout=-1)
    print(await child.communicate(), await loop.run_in_executor(None, abs, -3))
    signal.raise_signal(signal.SIGUSR1)
    await asyncio.sleep(0.01)
asyncio.run(main())`,
  ),
  'what it writes': one(
    `import os, sys
os.write(1, b'raw ')
sys.stdout.write('text')
sys.stdout.buffer.write(b'\\xff\\n')
print('error', file=sys.stderr)
print('\\udc80'.encode('utf-8', 'surrogateescape'))
print('\\ud800')`,
  ),
  'output that is closed': one('import sys, os\nsys.stdout.close()\nos.write(2, b"on")'),
  input: one('import sys\nprint(repr(sys.stdin.read()))\ninput()'),
};

export const sameScripts: Readonly<Record<string, Files>> = {
  ...endings,
  ...texts,
  ...modules,
  ...processes,
};
