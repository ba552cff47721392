/** Refuses a query before the database sees it, unless all of its syntax is on the list. */
import { fileURLToPath } from 'node:url';
import { AnsweringProcess } from '#infra/system/answering-process.ts';
import type { Queryable } from '../database.ts';
import { nameKinds, type QueryNames } from './query-syntax.ts';

/** A request to the parser process. The first request contains the permitted names. */
export interface QueryQuestion {
  readonly names?: QueryNames;
  readonly query: string;
}

export interface QueryAnswer {
  readonly problem?: string;
  /** Whether the process must be stopped. */
  readonly isSpent?: boolean;
}

export interface QueryChecker {
  /** Describes the problem with a query as a phrase. Returns `undefined` if the query is permitted. */
  problemOf(query: string): Promise<string | undefined>;
  /** Idempotent. */
  close(): Promise<void>;
}

const maxMemoryMb = 128;
const timeoutMs = 2_000;
const program = fileURLToPath(new URL('query-parser.ts', import.meta.url));

/** Checks queries in a separate process, one at a time, because a query may exhaust the stack, time or memory. */
export class QueryCheck implements QueryChecker {
  readonly #platform: Queryable;
  readonly #parser = new AnsweringProcess({ program, maxMemoryMb, timeoutMs });
  #names: QueryNames | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** @param platform the service's own connections, used to read the lists of permitted names */
  constructor(platform: Queryable) {
    this.#platform = platform;
  }

  async problemOf(query: string): Promise<string | undefined> {
    const answer = this.#last.then(() => this.#ask(query));
    this.#last = answer.catch(() => undefined);
    return await answer;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#parser.end();
  }

  async #ask(query: string): Promise<string | undefined> {
    const names = (this.#names ??= await this.#readNames());
    const answer = (await this.#parser.ask((isFirst) =>
      isFirst ? { names, query } : { query },
    )) as QueryAnswer | undefined;
    if (answer?.isSpent === true) await this.#parser.end();
    return answer === undefined
      ? 'the query is too large to be checked: shorten it'
      : answer.problem;
  }

  async #readNames(): Promise<QueryNames> {
    const { rows } = await this.#platform.query<{ kind: string; name: string }>(
      'SELECT kind, name FROM queries.syntax',
    );
    const namesOf = (kind: string) =>
      rows.filter((row) => row.kind === kind).map(({ name }) => name);
    return Object.fromEntries(
      nameKinds.map((kind) => [kind, namesOf(kind)]),
    ) as unknown as QueryNames;
  }
}
