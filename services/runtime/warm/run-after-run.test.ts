/** One supervisor of a keeper has run after run: whatever one does, the next is as if it were the first. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunExit, RunLimits } from '../sandbox/sandbox.ts';
import { NO_LIMITS, parentOf, type Outcome } from '../sandbox/testing/bench.ts';
import { WarmBench } from './testing.ts';

/** Tells what it finds, in words; nothing of it is there in a first run. */
const looks = `import os
files = ['/tmp/left', '/dev/shm/left', 'left']
memory = [line.split()[1] for line in open('/proc/sysvipc/shm')][1:]
processes = [each for each in os.listdir('/proc') if each.isdigit()]
print(os.getpid(), processes, memory, [each for each in files if os.path.exists(each)])
`;
const fresh = "2 ['1', '2'] [] []\n";

interface Case {
  readonly source: string;
  readonly exit: Partial<Extract<RunExit, { kind: 'exited' }>>;
  readonly limits?: Partial<RunLimits>;
  /** Text after which it is asked to stop. */
  readonly stopAt?: string;
}

const cases: Readonly<Record<string, Case>> = {
  'files and memory everywhere': {
    source: `import ctypes
for each in ['/tmp/left', '/dev/shm/left', 'left']:
    open(each, 'w').write('left')
ctypes.CDLL(None).shmget(7, 4096, 0o1666)`,
    exit: { exitCode: 0 },
  },
  'processes that have left it': {
    source: `import os, time
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 3)
            time.sleep(600)
        os._exit(0)`,
    exit: { exitCode: 0 },
  },
  'an exception': { source: "raise ValueError('no')", exit: { exitCode: 1 } },
  'its own death': {
    source: 'import os, signal; os.kill(os.getpid(), signal.SIGKILL)',
    exit: { signal: 'SIGKILL' },
  },
  'a crash of the interpreter': {
    source: 'import ctypes; ctypes.string_at(0)',
    exit: { signal: 'SIGSEGV' },
  },
  'too much memory': {
    source: 'text = bytearray(300 * 2**20)',
    exit: { reason: 'memory_limit' },
    limits: { memoryBytes: 50 * 2 ** 20 },
  },
  'too much time': {
    source: 'import time; time.sleep(600)',
    exit: { reason: 'timeout' },
    limits: { wallClockSeconds: 0.1 },
  },
  'an end on request': {
    source: "import time; print('waiting'); time.sleep(600)",
    exit: { reason: 'stopped', signal: 'SIGTERM' },
    stopAt: 'waiting',
  },
  'an end by force': {
    source: `import signal, time
signal.signal(signal.SIGTERM, lambda *_: print('asked'))
print('waiting')
while True:
    time.sleep(600)`,
    exit: { reason: 'stopped', signal: 'SIGKILL' },
    stopAt: 'waiting',
  },
};

let bench: WarmBench;
beforeAll(async () => {
  bench = await WarmBench.open();
  await bench.kept(await bench.warm({ 'main.py': looks }));
});
afterAll(() => bench.close());

async function outcomeOf({ source, limits, stopAt }: Omit<Case, 'exit'>): Promise<Outcome> {
  const spec = await bench.warm(
    { 'main.py': source },
    { limits: { ...NO_LIMITS, ...limits }, stopGraceMs: 100 },
  );
  const running = await bench.bench.start(spec);
  if (stopAt !== undefined) {
    await running.seen(stopAt);
    running.run.stop();
  }
  const outcome = await running.outcome();
  await running.run.closed;
  return outcome;
}

describe('a run finds nothing of the one before, and is well, after', () => {
  test.each(Object.entries(cases))('%s', async (_, each) => {
    expect((await outcomeOf(each)).exit).toMatchObject(each.exit);
    const next = await outcomeOf({ source: looks });
    expect(next.stdout).toBe(fresh);
    expect(next.exit).toMatchObject({ exitCode: 0, reason: null, detail: null });
  });
});

test('a run that ends by itself leaves its supervisor to the next', async () => {
  const supervisors = new Set<number>();
  for (let run = 0; run < 4; run += 1) {
    const spec = await bench.warm({ 'main.py': looks });
    const held = await bench.bench.sandbox.prepare(spec, ignoring);
    supervisors.add(await parentOf(await parentOf(held.pid)));
    held.go();
    expect(await held.finished).toMatchObject({ exitCode: 0 });
    await held.closed;
  }
  // Another one may have been made for the first, when that took long.
  expect(supervisors.size).toBeLessThan(3);
});

test('files and folders have the modes that they are given, in each run', async () => {
  const source = `import os
for each in ['.', 'data', '/tmp', 'main.py', 'all', 'group', 'own']:
    print(each, oct(os.stat(each).st_mode & 0o7777))
os.chmod('all', 0)
os.mkdir('left')
os.mkdir('left/empty')
os.mkdir('left/full')
open('left/full/file', 'w')
os.chmod('left/empty', 0)`;
  const spec = await bench.warm({ 'main.py': source, all: '', group: '', own: '' });
  const modes: Readonly<Record<string, number>> = { all: 0o777, group: 0o664, own: 0o600 };
  const files = spec.files.map((file) => ({ ...file, mode: modes[file.path] ?? file.mode }));
  for (const runId of ['modes-1', 'modes-2']) {
    const { exit, stdout } = await bench.outcome({ ...spec, runId, files });
    expect(exit).toMatchObject({ exitCode: 0 });
    expect(stdout).toContain('main.py 0o644\nall 0o777\ngroup 0o664\nown 0o600\n');
    // Where each script has a user of its own these are that user's alone.
    const hasUser = bench.bench.sandbox.layers.includes('script_user');
    expect(stdout).toContain(hasUser ? '. 0o700\ndata 0o755\n/tmp 0o700\n' : '/tmp 0o1777\n');
  }
  const left = await readdir(join(bench.bench.folder, 'runs'));
  expect(left.filter((name) => !name.startsWith('.'))).toEqual([]);
});

test('what earlier runs took is not counted to the next', async () => {
  const burns = 'import time\nwhile time.process_time() < 0.3:\n    pass';
  const took: number[] = [];
  for (const source of [burns, burns, burns, looks]) {
    const { exit } = await outcomeOf({ source });
    took.push(exit.kind === 'exited' ? exit.usage.cpuSeconds : Number.NaN);
  }
  const last = took.pop();
  expect(took.every((seconds) => seconds >= 0.3 && seconds < 0.6)).toBe(true);
  expect(last).toBeLessThan(0.3);
});

const ignoring = { output: () => undefined, sample: () => undefined };
