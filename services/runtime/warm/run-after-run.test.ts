/** Tests consecutive runs in one supervisor of a keeper. Each run must behave like the first, regardless of earlier
 *  runs. */
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeWith } from '../../../scripts/testing/optional-service.ts';
import type { RunExit, RunLimits, RunSpec } from '../sandbox/sandbox.ts';
import { NO_LIMITS, parentOf, type Outcome } from '../sandbox/testing/bench.ts';
import { namespaces } from '../sandbox/testing/machine.ts';
import { WarmBench } from './testing/warm-bench.ts';

/** A script that prints all leftovers from earlier runs. The first run finds none. */
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
  /** The output after which the run is stopped. */
  readonly stopAt?: string;
}

/** Reports the script's files: kind, mode, names, attributes and the beginning of their content. */
const finds = `import os
for folder in ['.', '/tmp']:
    for each in [folder, *sorted(os.path.join(folder, name) for name in os.listdir(folder))]:
        status = os.stat(each, follow_symlinks=False)
        names = status.st_nlink if os.path.isfile(each) else None
        text = open(each).read(9) if os.path.isfile(each) else os.listdir(each)
        print(each, oct(status.st_mode), names, os.listxattr(each), text)
`;

/** Changes that a script makes to the folder that the next run will use. */
const changes: Readonly<Record<string, string>> = {
  'more in a file': "open('file', 'a').write('more')",
  'a file with other content of the same length': "open('file', 'r+').write('kale')",
  'a file with a changed mode': "import os; os.chmod('file', 0o755)",
  'a second name for a file': "import os; os.link('file', 'other')",
  'a link replacing a file': "import os; os.unlink('file'); os.symlink('/etc/passwd', 'file')",
  'a pipe replacing a file': "import os; os.unlink('file'); os.mkfifo('file')",
  'a folder replacing a file': "import os; os.unlink('file'); os.mkdir('file')",
  'no file': "import os; os.unlink('file')",
  'a file without permissions': "import os; os.chmod('file', 0)",
  'folders with changed modes': "import os; os.chmod('.', 0o500); os.chmod('/tmp', 0o711)",
  'an attribute of its folder': "import os; os.setxattr('.', 'user.of', b'it')",
  'an attribute of a file': "import os; os.setxattr('file', 'user.of', b'it')",
  'very many files': "for each in range(2000): open(f'/tmp/{each:0200}', 'w').close()",
  'folders in folders': "import os; os.makedirs('/'.join(['in'] * 300)); os.makedirs('/tmp/in/in')",
};

const cases: Readonly<Record<string, Case>> = {
  'a run that leaves files and memory everywhere': {
    source: `import ctypes
for each in ['/tmp/left', '/dev/shm/left', 'left']:
    open(each, 'w').write('left')
ctypes.CDLL(None).shmget(7, 4096, 0o1666)`,
    exit: { exitCode: 0 },
  },
  'a run that leaves detached processes': {
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
  'a run that kills itself': {
    source: 'import os, signal; os.kill(os.getpid(), signal.SIGKILL)',
    exit: { signal: 'SIGKILL' },
  },
  'a crash of the interpreter': {
    source: 'import ctypes; ctypes.string_at(0)',
    exit: { signal: 'SIGSEGV' },
  },
  'a run over the memory limit': {
    source: 'text = bytearray(300 * 2**20)',
    exit: { reason: 'memory_limit' },
    limits: { memoryBytes: 50 * 2 ** 20 },
  },
  'a run over the time limit': {
    source: 'import time; time.sleep(600)',
    exit: { reason: 'timeout' },
    limits: { wallClockSeconds: 0.1 },
  },
  'a run that ends on a stop request': {
    source: "import time; print('waiting'); time.sleep(600)",
    exit: { reason: 'stopped', signal: 'SIGTERM' },
    stopAt: 'waiting',
  },
  'a run that is killed': {
    source: `import signal, time
signal.signal(signal.SIGTERM, lambda *_: print('asked'))
print('waiting')
while True:
    time.sleep(600)`,
    exit: { reason: 'stopped', signal: 'SIGKILL' },
    stopAt: 'waiting',
  },
};

describeWith(namespaces, 'consecutive runs in one supervisor', () => {
  let bench: WarmBench;
  const keepsData = () => ({ dataFolder: join(bench.bench.folder, 'data', 'script-1') });
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

  describe('a run succeeds and finds no leftovers after', () => {
    test.each(Object.entries(cases))('%s', async (_, each) => {
      expect((await outcomeOf(each)).exit).toMatchObject(each.exit);
      const next = await outcomeOf({ source: looks });
      expect(next.stdout).toBe(fresh);
      expect(next.exit).toMatchObject({ exitCode: 0, reason: null, detail: null });
    });
  });

  test('runs that leave their folder unchanged share the folder', async () => {
    const spec = await bench.warm({ 'main.py': looks }, keepsData());
    const madeAt = async () => {
      const runs = join(bench.bench.folder, 'runs');
      const kept = (await readdir(runs)).filter((name) => name.startsWith('.kept-'));
      const places = kept.flatMap((name) => [`${name}/files`, `${name}/tmp`, `${name}/files/data`]);
      // If there is a second supervisor, its folder belongs to an earlier run and contains no data.
      return await Promise.all(
        places
          .filter((place) => existsSync(join(runs, place)))
          .map(async (place) => [place, (await stat(join(runs, place))).birthtimeMs] as const),
      );
    };
    await bench.outcome({ ...spec, runId: 'same-1' });
    const before = await madeAt();
    const keeps = bench.bench.sandbox.layers.includes('landlock');
    expect(before.length > 0).toBe(keeps);
    for (const runId of ['same-2', 'same-3', 'same-4']) await bench.outcome({ ...spec, runId });
    expect(new Map(await madeAt())).toEqual(new Map([...(await madeAt()), ...before]));
  });

  test('the next run reuses the supervisor of a run that has ended normally', async () => {
    const supervisors = new Set<number>();
    for (let run = 0; run < 4; run += 1) {
      const spec = await bench.warm({ 'main.py': looks });
      const held = await bench.bench.sandbox.prepare(spec, ignoring);
      supervisors.add(await parentOf(await parentOf(held.pid)));
      held.go();
      expect(await held.finished).toMatchObject({ exitCode: 0 });
      await held.closed;
    }
    // A second supervisor may have been created if the first one took long.
    expect(supervisors.size).toBeLessThan(3);
  });

  test('files and folders have their specified modes in every run', async () => {
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
      // If each script has its own user, only that user can access the objects.
      const hasUser = bench.bench.sandbox.layers.includes('script_user');
      expect(stdout).toContain(hasUser ? '. 0o700\ndata 0o755\n/tmp 0o700\n' : '/tmp 0o1777\n');
    }
    const left = await readdir(join(bench.bench.folder, 'runs'));
    expect(left.filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  test('the resource usage of earlier runs does not count toward the next run', async () => {
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

  describe('a run finds unchanged files after a previous run that leaves', () => {
    const file = 'text';
    let asNew: string;
    beforeAll(async () => {
      asNew = (await bench.outcome(await bench.cold({ 'main.py': finds, file }, keepsData())))
        .stdout;
    });

    test.each(Object.entries(changes))('%s', async (_, change) => {
      const found = await bench.warm({ 'main.py': finds, file }, keepsData());
      expect((await bench.outcome({ ...found, runId: 'before' })).stdout).toBe(asNew);
      const { files } = await bench.warm({ 'main.py': change });
      const changing = { ...found, runId: 'between', files: [...files, ...found.files.slice(1)] };
      expect((await bench.outcome(changing)).exit).toMatchObject({ exitCode: 0 });
      // Starts several runs concurrently. One of them then gets the supervisor and the folder of the previous run.
      const after = await Promise.all(
        ['after-1', 'after-2', 'after-3'].map((runId) => bench.outcome({ ...found, runId })),
      );
      expect(after.map(({ stdout }) => stdout)).toEqual([asNew, asNew, asNew]);
    });
  });

  /** A script that receives another run's open files, and tries to change the files of later runs through them. */
  const takes = `import os, socket
server = socket.socket(socket.AF_UNIX)
server.bind('data/handed')
server.listen()
print('listening', flush=True)
_, taken, _, _ = socket.recv_fds(server.accept()[0], 1, 3)
home, tmp, file = taken
print('taken', flush=True)
server.accept()
def attempt(change):
    try:
        change()
    except OSError as error:
        return error.strerror
for each in (home, tmp):
    print(attempt(lambda: os.open('json.py', os.O_WRONLY | os.O_CREAT, dir_fd=each)))
    print(attempt(lambda: os.mkdir('json', dir_fd=each)))
    print(attempt(lambda: os.symlink('data', 'link', dir_fd=each)))
print(attempt(lambda: os.unlink('file', dir_fd=home)), attempt(lambda: os.rename('file', 'json.py', src_dir_fd=home, dst_dir_fd=home)))
print(attempt(lambda: os.pwrite(file, b'changed', 0)), flush=True)
server.accept()
`;
  const hands = `import os, socket
client = socket.socket(socket.AF_UNIX)
client.connect('data/handed')
socket.send_fds(client, [b'x'], [os.open('.', 0), os.open('/tmp', 0), os.open('file', os.O_RDWR)])
`;
  const calls = "import socket; socket.socket(socket.AF_UNIX).connect('data/handed')";

  test('open files and folders that one run has passed to another do not affect later runs', async () => {
    const file = 'text';
    const asNew = (await bench.outcome(await bench.cold({ 'main.py': finds, file }, keepsData())))
      .stdout;
    const holding = await bench.bench.start(await bench.warm({ 'main.py': takes }, keepsData()));
    await holding.seen('listening');
    await bench.outcome(await bench.warm({ 'main.py': hands, file }, keepsData()));
    await holding.seen('taken');
    // Prepares the runs before they execute, so that the folder already belongs to the next run.
    const found = await bench.warm({ 'main.py': finds, file }, keepsData());
    const next = await Promise.all(
      ['next-1', 'next-2', 'next-3'].map((runId) => hold({ ...found, runId })),
    );
    await bench.outcome(await bench.cold({ 'main.py': calls }, keepsData()));
    await holding.seen('None\n');
    const texts = await Promise.all(next.map((letGo) => letGo()));
    await bench.outcome(await bench.cold({ 'main.py': calls }, keepsData()));
    const { stdout } = await holding.outcome();
    // Without Landlock, later runs have separate folders.
    const keeps = bench.bench.sandbox.layers.includes('landlock');
    const denied = keeps ? 'Permission denied' : 'No such file or directory';
    expect(stdout).toBe(`listening\ntaken\n${`${denied}\n`.repeat(6)}${denied} ${denied}\nNone\n`);
    expect(texts.map((text) => text.replace("'handed'", ''))).toEqual([asNew, asNew, asNew]);
  });

  /** Prepares a run.
   *  @returns a function that starts the run and resolves with its output */
  async function hold(spec: RunSpec): Promise<() => Promise<string>> {
    let text = '';
    const output = (_: string, chunk: Buffer) => void (text += chunk.toString());
    const held = await bench.bench.sandbox.prepare(spec, { ...ignoring, output });
    return async () => {
      held.go();
      await held.finished;
      return text;
    };
  }

  const ignoring = { output: () => undefined, sample: () => undefined };
});
