/** Checks the parameters of runs against the schemas of their scripts, one at a time, in a process that is
 *  ended where one takes too long: a schema may ask for more work than there is time, or for more memory. */
import { createHash } from 'node:crypto';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { objection, type Fault, type Objection } from '../faults.ts';

/** Both are JSON. Without a value, it is about the schema itself. */
export interface Question {
  readonly schema: string;
  readonly value?: string;
}

const maxSchemaBytes = 64 * 1024;
const maxWaiting = 100;
const maxMemoryMb = 64;
/** A process that is not needed for so long gives its memory back. */
const maxIdleMs = 60_000;
/** A schema that took too long is not tried again for so long: it would hold up all others. */
const distrustMs = 10_000;
const maxDistrusted = 1000;
const usualPatienceMs = 2_000;
const startPatienceMs = 30_000;

const busy = objection('unavailable', 'Too many parameters are being checked: try again.');

const program = fileURLToPath(new URL('examiner.ts', import.meta.url));

export class ParameterSchemas {
  readonly #patienceMs: number;
  readonly #distrusted = new Map<string, number>();
  #examiner: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** @param patienceMs the longest time for one answer */
  constructor(patienceMs = usualPatienceMs) {
    this.#patienceMs = patienceMs;
  }

  /** What is wrong with a schema that a script is to have.
   *  @param field its name in the body */
  async schemaProblem(schema: object, field: string): Promise<Objection | undefined> {
    const text = JSON.stringify(schema);
    if (Buffer.byteLength(text) > maxSchemaBytes) {
      return refusal(field, [{ pointer: '', detail: `has more than ${maxSchemaBytes} bytes` }]);
    }
    return await this.#ask({ schema: text }, field);
  }

  /** What is wrong with parameters.
   *  @param field their name in the body */
  async valueProblem(
    schema: object,
    value: unknown,
    field: string,
  ): Promise<Objection | undefined> {
    return await this.#ask({ schema: JSON.stringify(schema), value: JSON.stringify(value) }, field);
  }

  /** Ends the process; safe twice. */
  async close(): Promise<void> {
    await this.#last;
    await this.#end();
  }

  async #ask(question: Question, field: string): Promise<Objection | undefined> {
    if (this.#waiting >= maxWaiting) return busy;
    this.#waiting += 1;
    const answer = this.#last.then(() => this.#answer(question));
    this.#last = answer.catch(() => undefined);
    try {
      const faults = await answer;
      return faults.length === 0 ? undefined : refusal(field, faults);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #answer(question: Question): Promise<readonly Fault[]> {
    const name = createHash('sha256').update(question.schema).digest('base64url');
    if ((this.#distrusted.get(name) ?? 0) > performance.now()) return tooMuch;
    const examiner = (this.#examiner ??= await this.#start());
    clearTimeout(this.#idle);
    const answered = messageOf(examiner, this.#patienceMs);
    examiner.send(question, () => undefined);
    const faults = (await answered) as readonly Fault[] | undefined;
    if (faults !== undefined) {
      this.#idle = setTimeout(() => void this.#end(), maxIdleMs).unref();
      return faults;
    }
    // Ended before anything is asked again: what it is still at would be taken for the next answer.
    await this.#end();
    this.#distrust(name);
    return tooMuch;
  }

  async #start(): Promise<ChildProcess> {
    const { NODE_COMPILE_CACHE } = process.env;
    const examiner = fork(program, {
      // A thread's bound on its memory may end the whole process.
      execArgv: [`--max-old-space-size=${maxMemoryMb}`],
      env: { ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) },
      stdio: 'ignore',
    });
    examiner.on('error', () => undefined);
    examiner.once('exit', () => {
      if (this.#examiner === examiner) this.#examiner = undefined;
    });
    if ((await messageOf(examiner, startPatienceMs)) === undefined) {
      examiner.kill('SIGKILL');
      throw new Error('the process that examines schemas did not start');
    }
    examiner.unref();
    examiner.channel?.unref();
    return examiner;
  }

  #distrust(name: string): void {
    const [oldest] = this.#distrusted.size < maxDistrusted ? [] : this.#distrusted.keys();
    if (oldest !== undefined) this.#distrusted.delete(oldest);
    this.#distrusted.set(name, performance.now() + distrustMs);
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    const examiner = this.#examiner;
    this.#examiner = undefined;
    if (examiner === undefined || examiner.exitCode !== null || examiner.signalCode !== null)
      return;
    const ended = once(examiner, 'exit');
    examiner.kill('SIGKILL');
    await ended;
  }
}

/** Its next message; `undefined` where it ends, or `patienceMs` pass, before there is one. */
async function messageOf(examiner: ChildProcess, patienceMs: number): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const nothing = (): void => resolve(undefined);
  const tooLate = setTimeout(nothing, patienceMs);
  examiner.once('message', resolve).once('exit', nothing).once('error', nothing);
  try {
    return await promise;
  } finally {
    clearTimeout(tooLate);
    examiner.off('message', resolve).off('exit', nothing).off('error', nothing);
  }
}

const tooMuch: readonly Fault[] = [
  { pointer: '', detail: 'cannot be checked: the schema asks for too much work' },
];

function refusal(field: string, faults: readonly Fault[]): Objection {
  const errors = faults.map((one) => ({ ...one, pointer: `/${field}${one.pointer}` }));
  const { pointer = '', detail = '' } = errors[0] ?? {};
  return objection('validation_failed', `The field "${pointer.slice(1)}" ${detail}.`, { errors });
}
