/** Runs Ruff in a web worker. Import this module dynamically. The first call loads Ruff, which is large. */
import type { Diagnostic } from '@astral-sh/ruff-wasm-web';
import type { RuffReply, RuffRequest } from './messages.ts';
import { syntaxProblem } from './syntax-problem.ts';

let worker: Worker | undefined;
let lastId = 0;
const waiting = new Map<
  number,
  { resolve: (reply: RuffReply) => void; reject: (error: Error) => void }
>();

/** Returns the violations in Python code. */
export async function checkPython(text: string): Promise<readonly Diagnostic[]> {
  const reply = await ask('check', text);
  return 'found' in reply ? reply.found : [];
}

/** Formats Python code in Black's style. @throws Error with the location of a syntax error */
export async function formatPython(text: string): Promise<string> {
  const reply = await ask('format', text);
  if ('formatted' in reply) return reply.formatted;
  throw new Error(syntaxProblem(text, 'problem' in reply ? reply.problem : ''));
}

function ask(method: RuffRequest['method'], text: string): Promise<RuffReply> {
  worker ??= start();
  const id = (lastId += 1);
  const target = worker;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    target.postMessage({ id, method, text } satisfies RuffRequest);
  });
}

function start(): Worker {
  const started = new Worker(new URL('./ruff.worker.ts', import.meta.url), { type: 'module' });
  started.addEventListener('message', ({ data }: MessageEvent<RuffReply>) => {
    waiting.get(data.id)?.resolve(data);
    waiting.delete(data.id);
  });
  started.addEventListener('error', () => {
    // The next call loads Ruff again, for example after the connection has recovered.
    worker = undefined;
    for (const { reject } of waiting.values()) reject(new Error('Could not load Ruff.'));
    waiting.clear();
  });
  return started;
}
