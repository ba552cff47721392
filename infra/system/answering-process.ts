/** A child process that handles one request at a time. It starts at the first request and exits when idle to free
 *  memory. The process is killed if a response takes too long. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

const maxIdleMs = 60_000;
const startTimeoutMs = 30_000;

export interface AnsweringProcessOptions {
  /** The path of a program that first sends "ready", then one response per message. */
  readonly program: string;
  /** The maximum heap size in MB. */
  readonly maxMemoryMb: number;
  /** The maximum time for one response. */
  readonly timeoutMs: number;
}

export class AnsweringProcess {
  readonly #options: AnsweringProcessOptions;
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: AnsweringProcessOptions) {
    this.#options = options;
  }

  /** Sends a request. Must not be called before the previous request has settled.
   *  @param question receives whether this is the first request to the process
   *  @returns `undefined` if the process exited or took too long; the next request then starts a new process
   *  @throws Error if the process does not start */
  async ask(question: (isFirst: boolean) => object): Promise<unknown> {
    const isFirst = this.#child === undefined;
    const child = (this.#child ??= await this.#start());
    clearTimeout(this.#idle);
    const answered = messageOf(child, this.#options.timeoutMs);
    child.send(question(isFirst), () => undefined);
    const answer = await answered;
    // The process is stopped before the next request. Otherwise, a late response could be mistaken for the response to
    // that request.
    if (answer === undefined) await this.end();
    else this.#idle = setTimeout(() => void this.end(), maxIdleMs).unref();
    return answer;
  }

  /** Stops the process. Idempotent. */
  async end(): Promise<void> {
    clearTimeout(this.#idle);
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async #start(): Promise<ChildProcess> {
    const { program, maxMemoryMb } = this.#options;
    const { NODE_COMPILE_CACHE } = process.env;
    const child = fork(program, {
      // A worker thread that exceeds its memory limit can crash the whole process, so a separate process is used.
      execArgv: [`--max-old-space-size=${maxMemoryMb}`],
      env: { ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) },
      stdio: 'ignore',
    });
    child.on('error', () => undefined);
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
    if ((await messageOf(child, startTimeoutMs)) === undefined) {
      child.kill('SIGKILL');
      throw new Error(`the process ${program} did not start`);
    }
    child.unref();
    child.channel?.unref();
    return child;
  }
}

/** Resolves to the next message from the process, or to `undefined` if the process exits or the timeout passes
 *  first. */
async function messageOf(child: ChildProcess, timeoutMs: number): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const nothing = (): void => resolve(undefined);
  const tooLate = setTimeout(nothing, timeoutMs);
  child.once('message', resolve).once('exit', nothing).once('error', nothing);
  try {
    return await promise;
  } finally {
    clearTimeout(tooLate);
    child.off('message', resolve).off('exit', nothing).off('error', nothing);
  }
}
