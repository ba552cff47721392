/** Performs requested restores while the services are stopped. Each restore runs in a separate process to limit the
 *  memory of this process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createBriefServer } from '#services/shared/connections/brief-server.ts';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { listen, stopListening } from '#services/shared/listen.ts';
import { requestedRestore } from '#services/shared/restore-request.ts';

const program = fileURLToPath(new URL('../cli/main.ts', import.meta.url));
const pollEveryMs = 1_000;
const maxAttempts = 5;

export interface RestoreDeps {
  readonly dataDir: string;
  /** The environment variables of the restore program. */
  readonly environment: Readonly<Record<string, string>>;
  /** The backend's address, where clients can follow the restore's progress. */
  readonly host: string;
  readonly port: number;
  readonly say: (line: string) => void;
}

/** Performs the requested restore, if any. The caller must have stopped all services. An interrupted restore starts
 *  over.
 *  @param signal aborts the restore, but keeps the request */
export async function restoreIfRequested(deps: RestoreDeps, signal: AbortSignal): Promise<void> {
  const { dataDir, say } = deps;
  if (requestedRestore(dataDir) === undefined) return;
  say('Restoring a backup');
  const notice = await openNotice(deps);
  try {
    for (let attempt = 1; attempt <= maxAttempts && !signal.aborted; attempt += 1) {
      const problem = await restoreOnce(deps, notice.report, signal);
      if (requestedRestore(dataDir) === undefined) return;
      if (!signal.aborted) say(`The restore was interrupted: ${problem}`);
    }
  } finally {
    await notice.close();
  }
}

/** Calls `listener` once when a restore is requested.
 *  @returns a function that stops the watch */
export function onRestoreRequested(dataDir: string, listener: () => void): () => void {
  const timer = setInterval(() => {
    if (requestedRestore(dataDir) === undefined) return;
    clearInterval(timer);
    listener();
  }, pollEveryMs);
  return () => clearInterval(timer);
}

async function restoreOnce(
  { environment, say }: RestoreDeps,
  report: (progress: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const child = spawn(process.execPath, [program, 'backup', 'restore', '--asked'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Only this process may receive Ctrl-C, because it stops the other processes in order.
    detached: true,
  });
  const end = () => child.kill('SIGKILL');
  signal.addEventListener('abort', end);
  createInterface(child.stdout).on('line', (line) => {
    const [, share, step] = /^progress ([\d.]+) (.+)$/.exec(line) ?? [];
    if (step === undefined) say(line);
    else report(`${step}, ${Math.floor(Number(share) * 100)} %`);
  });
  const [problem, [code, killer]] = await Promise.all([
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null, string | null]>,
  ]);
  signal.removeEventListener('abort', end);
  return problem.trim() || (killer ?? `exit code ${code}`);
}

interface Notice {
  readonly report: (progress: string) => void;
  close(): Promise<void>;
}

/** Starts a server in place of the stopped backend. The server responds to requests with the restore's progress. */
async function openNotice({ host, port }: RestoreDeps): Promise<Notice> {
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
    report: (next) => (progress = next),
    close: async () => {
      const closed = stopListening(server);
      server.closeAllConnections();
      await closed;
    },
  };
}
