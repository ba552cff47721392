/** Restores that were asked for: while the services are down, in a process of its own, as this one stays small. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createBriefServer } from '#services/shared/connections/brief-server.ts';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { listen, stopListening } from '#services/shared/listen.ts';
import { restoreAskedFor } from '#services/shared/restore-request.ts';

const program = fileURLToPath(new URL('../cli/main.ts', import.meta.url));
const lookEveryMs = 1_000;
const mostAttempts = 5;

export interface RestoreParts {
  readonly dataDir: string;
  /** Of the program that restores. */
  readonly environment: Readonly<Record<string, string>>;
  /** The address of the backend, where clients see the progress meanwhile. */
  readonly host: string;
  readonly port: number;
  readonly say: (line: string) => void;
}

/** Runs the requested restore, if there is one, while no service runs. An interrupted restore starts again.
 *  @param signal ends it; the request then stays */
export async function restoreIfAsked(parts: RestoreParts, signal: AbortSignal): Promise<void> {
  const { dataDir, say } = parts;
  if (restoreAskedFor(dataDir) === undefined) return;
  say('Restoring a backup');
  const notice = await openNotice(parts);
  try {
    for (let attempt = 1; attempt <= mostAttempts && !signal.aborted; attempt += 1) {
      const problem = await restoreOnce(parts, notice.tell, signal);
      if (restoreAskedFor(dataDir) === undefined) return;
      if (!signal.aborted) say(`The restore was interrupted: ${problem}`);
    }
  } finally {
    await notice.close();
  }
}

/** Calls back, once, when a restore is asked for. @returns the way to stop looking */
export function onRestoreAsked(dataDir: string, listener: () => void): () => void {
  const timer = setInterval(() => {
    if (restoreAskedFor(dataDir) === undefined) return;
    clearInterval(timer);
    listener();
  }, lookEveryMs);
  return () => clearInterval(timer);
}

async function restoreOnce(
  { environment, say }: RestoreParts,
  tell: (progress: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const child = spawn(process.execPath, [program, 'backup', 'restore', '--asked'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C must reach this process alone, which then ends the others in order.
    detached: true,
  });
  const end = () => child.kill('SIGKILL');
  signal.addEventListener('abort', end);
  createInterface(child.stdout).on('line', (line) => {
    const [, share, step] = /^progress ([\d.]+) (.+)$/.exec(line) ?? [];
    if (step === undefined) say(line);
    else tell(`${step}, ${Math.floor(Number(share) * 100)} %`);
  });
  const [problem, [code, killer]] = await Promise.all([
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null, string | null]>,
  ]);
  signal.removeEventListener('abort', end);
  return problem.trim() || (killer ?? `exit code ${code}`);
}

interface Notice {
  readonly tell: (progress: string) => void;
  close(): Promise<void>;
}

/** Responds in place of the backend. */
async function openNotice({ host, port }: RestoreParts): Promise<Notice> {
  let progress = 'beginning';
  const server = createBriefServer((_request, response) => {
    const detail = `The service is being restored from a backup: ${progress}.`;
    const body = {
      type: 'about:blank',
      title: 'Restoring',
      status: 503,
      code: 'restoring',
      detail,
    };
    response.writeHead(503, {
      'Content-Type': 'application/problem+json',
      'Retry-After': '2',
      'Cache-Control': 'no-store',
      Connection: 'close',
    });
    response.end(JSON.stringify(body));
  });
  await listen(server, port, host);
  return {
    tell: (next) => (progress = next),
    close: async () => {
      const closed = stopListening(server);
      server.closeAllConnections();
      await closed;
    },
  };
}
