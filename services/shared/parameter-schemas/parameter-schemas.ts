/** Validates run parameters against the script's schema in a separate process, one check at a time. A schema may
 *  require unbounded time or memory, so the process is killed if a check takes too long. */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { AnsweringProcess } from '#infra/system/answering-process.ts';
import { objection, type Fault, type Objection } from '../faults.ts';

/** A schema and a value, both as JSON text. Without a value, only the schema is checked. */
export interface Question {
  readonly schema: string;
  readonly value?: string;
}

const maxSchemaBytes = 64 * 1024;
const maxWaiting = 100;
const maxMemoryMb = 64;
/** The period after a timeout in which the schema is not checked again, because each check blocks all others. */
const distrustMs = 10_000;
const maxDistrusted = 1000;
const defaultTimeoutMs = 2_000;

const busy = objection('unavailable', 'Too many requests are being validated. Try again.');

const program = fileURLToPath(new URL('examiner.ts', import.meta.url));

export class ParameterSchemas {
  readonly #examiner: AnsweringProcess;
  readonly #distrusted = new Map<string, number>();
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** @param timeoutMs the time limit for one response */
  constructor(timeoutMs = defaultTimeoutMs) {
    this.#examiner = new AnsweringProcess({ program, maxMemoryMb, timeoutMs });
  }

  /** Checks a script's new schema.
   *  @param field the name of the schema's field in the request body
   *  @returns the problem, if any */
  async schemaProblem(schema: object, field: string): Promise<Objection | undefined> {
    const text = JSON.stringify(schema);
    if (Buffer.byteLength(text) > maxSchemaBytes) {
      return refusal(field, [{ pointer: '', detail: `exceeds ${maxSchemaBytes} bytes` }]);
    }
    return await this.#ask({ schema: text }, field);
  }

  /** Checks parameters.
   *  @param field the name of the parameters' field in the request body
   *  @returns the problem, if any */
  async valueProblem(
    schema: object,
    value: unknown,
    field: string,
  ): Promise<Objection | undefined> {
    return await this.#ask({ schema: JSON.stringify(schema), value: JSON.stringify(value) }, field);
  }

  /** Stops the process. Idempotent. */
  async close(): Promise<void> {
    await this.#last;
    await this.#examiner.end();
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
    const faults = await this.#examiner.ask(() => question);
    if (faults !== undefined) return faults as readonly Fault[];
    this.#distrust(name);
    return tooMuch;
  }

  #distrust(name: string): void {
    const [oldest] = this.#distrusted.size < maxDistrusted ? [] : this.#distrusted.keys();
    if (oldest !== undefined) this.#distrusted.delete(oldest);
    this.#distrusted.set(name, performance.now() + distrustMs);
  }
}

const tooMuch: readonly Fault[] = [
  { pointer: '', detail: 'cannot be checked: the schema is too complex' },
];

function refusal(field: string, faults: readonly Fault[]): Objection {
  const errors = faults.map((one) => ({ ...one, pointer: `/${field}${one.pointer}` }));
  const { pointer = '', detail = '' } = errors[0] ?? {};
  return objection('validation_failed', `The field "${pointer.slice(1)}" ${detail}.`, { errors });
}
