/** A process of our own that answers one question at a time. It starts with the first question, is killed where an
 *  answer takes too long, and gives its memory back when it is not needed. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

const maxIdleMs = 60_000;
const startPatienceMs = 30_000;

export interface AnsweringProcessOptions {
  /** The path of a program that sends "ready" first, then one answer to each message. */
  readonly program: string;
  /** For its heap. */
  readonly maxMemoryMb: number;
  /** The longest time for one answer. */
  readonly patienceMs: number;
}

export class AnsweringProcess {
  readonly #options: AnsweringProcessOptions;
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: AnsweringProcessOptions) {
    this.#options = options;
  }

  /** Asks a question, only after the previous one is answered. `undefined` if the process ended or took too long; the
   *  next question starts it again.
   *  @param question receives whether it is the first for its process
   *  @throws Error if the process does not start */
  async ask(question: (isFirst: boolean) => object): Promise<unknown> {
    const isFirst = this.#child === undefined;
    const child = (this.#child ??= await this.#start());
    clearTimeout(this.#idle);
    const answered = messageOf(child, this.#options.patienceMs);
    child.send(question(isFirst), () => undefined);
    const answer = await answered;
    // Ended before anything is asked again: what it is still at would be taken for the next answer.
    if (answer === undefined) await this.end();
    else this.#idle = setTimeout(() => void this.end(), maxIdleMs).unref();
    return answer;
  }

  /** Ends the process; safe twice. */
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
      // A thread's bound on its memory may end the whole process.
      execArgv: [`--max-old-space-size=${maxMemoryMb}`],
      env: { ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) },
      stdio: 'ignore',
    });
    child.on('error', () => undefined);
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
    if ((await messageOf(child, startPatienceMs)) === undefined) {
      child.kill('SIGKILL');
      throw new Error(`the process ${program} did not start`);
    }
    child.unref();
    child.channel?.unref();
    return child;
  }
}

/** Its next message; `undefined` where it ends, or `patienceMs` pass, before there is one. */
async function messageOf(child: ChildProcess, patienceMs: number): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const nothing = (): void => resolve(undefined);
  const tooLate = setTimeout(nothing, patienceMs);
  child.once('message', resolve).once('exit', nothing).once('error', nothing);
  try {
    return await promise;
  } finally {
    clearTimeout(tooLate);
    child.off('message', resolve).off('exit', nothing).off('error', nothing);
  }
}
