import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';

const lifecycle = fileURLToPath(new URL('lifecycle.ts', import.meta.url));
const children: ChildProcessWithoutNullStreams[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  /** Waits until the process has printed a text. */
  says(text: string): Promise<void>;
  /** Waits until the process has ended. */
  end(): Promise<{ code: number | null; output: string }>;
}

/** Starts a process. @param body the body of the process's `start` function */
function run(body: string, environment: Record<string, string> = {}): Child {
  const program = `
    import { runProcess } from ${JSON.stringify(lifecycle)};
    setInterval(() => undefined, 1_000);
    await runProcess('test', async (signal, logger) => { ${body} }, { stopDeadlineMs: 300 });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: environment,
  });
  children.push(child);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const closed = once(child, 'close') as Promise<[number | null]>;
  return {
    process: child,
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => void (output.includes(text) && resolve());
        child.stdout.on('data', look);
        child.once('close', () => reject(new Error(`it never said ${text}, but: ${output}`)));
        look();
      }),
    async end() {
      const [code] = await closed;
      return { code, output };
    },
  };
}

const STOPPABLE = `return { stop: async () => { logger.info('cleaned up'); } };`;

describe('a running process', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('stops cleanly on %s', async (signal) => {
    const child = run(STOPPABLE);
    await child.says('started');
    child.process.kill(signal);
    const { code, output } = await child.end();
    expect(code).toBe(0);
    expect(output.match(/cleaned up/g)).toHaveLength(1);
  });

  test('stops cleanly when its supervisor has exited', async () => {
    const child = run(STOPPABLE, { ORCH_SUPERVISED: 'true' });
    await child.says('started');
    child.process.stdin.end();
    const { code, output } = await child.end();
    expect(code).toBe(0);
    expect(output).toContain('cleaned up');
  });

  test('exits if stopping takes too long', async () => {
    const child = run('return { stop: () => new Promise(() => undefined) };');
    await child.says('started');
    child.process.kill('SIGTERM');
    const { code, output } = await child.end();
    expect(code).toBe(1);
    expect(output).toContain('shutdown timed out');
  });

  test.each([
    ['uncaught exception', 'setImmediate(() => { throw new Error("forgotten"); });'],
    ['unhandled rejection', 'void Promise.reject(new Error("forgotten"));'],
  ])('logs an %s and exits', async (_, body) => {
    const { code, output } = await run(`${body} ${STOPPABLE}`).end();
    expect(code).toBe(1);
    expect(output).toContain('unhandled error');
    expect(output).toContain('forgotten');
  });
});

describe('a process that does not start', () => {
  test('logs the reason if its start fails', async () => {
    const { code, output } = await run('throw new Error("no disk");').end();
    expect(code).toBe(1);
    expect(output).toContain('no disk');
  });

  test('stops cleanly if it is stopped during its start', async () => {
    const child = run(`
      logger.info('starting');
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));`);
    await child.says('starting');
    child.process.kill('SIGTERM');
    expect((await child.end()).code).toBe(0);
  });

  test('lists all invalid settings', async () => {
    const body = `
      const { readConfig } = await import(${JSON.stringify(lifecycle.replace('lifecycle', 'config'))});
      readConfig(['httpPort']);`;
    const { code, output } = await run(body, { ORCH_HTTP_PORT: 'x', ORCH_SUPERVISED: 'y' }).end();
    expect(code).toBe(1);
    expect(output).toContain('ORCH_HTTP_PORT');
    expect(output).toContain('ORCH_SUPERVISED');
  });
});
