/** The parts of API responses that commands read, and lookups in lists. */
import type { RunError } from '#domain/run/error/error.ts';
import { part, type Api } from '#services/shared/api-client.ts';
import { CommandProblem, exitCodes } from './problem.ts';

export interface ScriptAnswer {
  readonly id: string;
  readonly name: string;
  readonly group: string;
  readonly enabled: boolean;
  readonly version: number;
  readonly parameters_schema: {
    readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>;
  } | null;
  readonly last_run: { readonly status: string; readonly finished_at: string | null } | null;
}

export interface RunAnswer {
  readonly run_id: string;
  readonly script_name: string;
  readonly status: 'queued' | 'running' | 'success' | 'failed' | 'stopped';
  readonly trigger_type: string;
  readonly queued_at: string;
  readonly duration_ms: number | null;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly failure_reason: string | null;
  /** The error of a failed run. */
  readonly error: Pick<RunError, 'type' | 'message' | 'source'> | null;
}

export interface LogItem {
  readonly seq: number;
  /** The number of the last line, if the item represents several omitted lines. */
  readonly to_seq?: number;
  readonly time: string;
  readonly stream: 'stdout' | 'stderr' | 'system';
  readonly level: string | null;
  readonly text: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

const largestPage = 200;

/** Fetches a list page by page, up to `count` items. */
export async function listOf<Item>(
  api: Api,
  path: string,
  query: Query,
  count: number,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null | undefined; cursor !== null && items.length < count;) {
    const limit = Math.min(largestPage, count - items.length);
    const { body }: { body: Page<Item> } = await api.call('GET', path, {
      query: { ...query, limit, cursor },
    });
    items.push(...body.items);
    cursor = body.next_cursor;
  }
  return items;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** The number of items to fetch when looking up a name. More are not needed to find duplicates. */
const candidates = 200;

/** Resources with names, each with the path of its list and the field that contains the name. */
const collections: Readonly<Record<string, readonly [path: string, field: string]>> = {
  group: ['/groups', 'name'],
  user: ['/users', 'email'],
  channel: ['/notifications/channels', 'name'],
};

/** Finds the ID of a resource.
 *  @param kind `script`, or another key of `collections`
 *  @throws CommandProblem unless exactly one resource has the name */
export async function findId(api: Api, kind: string, named: string): Promise<string> {
  const [path, field] = collections[kind] ?? [];
  if (uuid.test(named)) return named;
  if (path === undefined || field === undefined) return (await findScript(api, named)).id;
  const all = await listOf<Readonly<Record<string, string>>>(api, path, {}, Infinity);
  const ids = all.filter((one) => one[field] === named).map((one) => one['id'] ?? '');
  if (ids.length === 1 && ids[0] !== undefined) return ids[0];
  throw new CommandProblem(
    exitCodes.notFound,
    ids.length === 0
      ? `No ${kind} "${named}" found. List yours: orchestrator ${kind}s list`
      : `${ids.length} ${kind}s are named "${named}". Use an ID: ${ids.join(', ')}`,
  );
}

/** Finds a script by its ID or its exact name.
 *  @throws CommandProblem unless exactly one script matches */
export async function findScript(api: Api, named: string): Promise<ScriptAnswer> {
  if (uuid.test(named)) {
    return (await api.call<ScriptAnswer>('GET', `/scripts/${part(named)}`)).body;
  }
  const found = await listOf<ScriptAnswer>(api, '/scripts', { q: named }, candidates);
  const [script, ...others] = found.filter(({ name }) => name === named);
  if (script === undefined) {
    throw new CommandProblem(
      exitCodes.notFound,
      `No script "${named}" found. List yours: orchestrator scripts`,
    );
  }
  if (others.length > 0) {
    const ids = [script, ...others].map(({ id }) => id).join(', ');
    throw new CommandProblem(
      exitCodes.notFound,
      `${others.length + 1} scripts are named "${named}". Use an ID: ${ids}`,
    );
  }
  return script;
}
