/** Commands on keys: existence, type and expiry. */
import type { ReadModels } from '#projections/projection.ts';
import { findRun } from '#projections/runs/queries.ts';
import type { Queryable } from '#infra/postgres/database.ts';
import { groupsOf, isIn, may, type Caller } from '../callers.ts';
import {
  oneKey,
  noKeys,
  textOf,
  upper,
  type Answer,
  type Command,
  type MemberCall,
} from '../command.ts';
import type { Leases } from '../jobs/leases.ts';
import { ownersOf } from '../jobs/leases.ts';
import { integerOf, jobsKey, notAnInteger, parseKey, syntaxError, type Key } from '../keys.ts';
import { globMatches } from '../resp/glob.ts';
import { failure, status } from '../resp/replies.ts';
import { countWaiting, listHeld, listRunning, logTotals } from '#infra/postgres/queue/jobs.ts';

/** The maximum number of runs in key lists. Clients can still access other runs by key. */
const maxNamed = 1000;
const maxPatternBytes = 1024;
const maxLeaseSeconds = 3600;

export interface KeysDeps {
  readonly reads: ReadModels;
  readonly database: Queryable;
  readonly leases: Leases;
}

type KindOfValue = 'list' | 'stream' | 'string' | 'none';

export function keyCommands(deps: KeysDeps): readonly Command[] {
  const read = { flags: ['readonly', 'fast'], keys: oneKey } as const;
  return [
    {
      ...read,
      access: 'runs.read',
      name: 'type',
      arity: 2,
      run: async ({ args: [name], caller }) => status(await kindOf(parseKey(name), caller, deps)),
    },
    {
      ...read,
      access: 'runs.read',
      name: 'exists',
      arity: -2,
      keys: [1, -1, 1],
      run: async ({ args, caller }) => {
        let count = 0;
        for (const name of args) {
          if ((await kindOf(parseKey(name), caller, deps)) !== 'none') count += 1;
        }
        return count;
      },
    },
    {
      ...read,
      access: 'runs.read',
      name: 'ttl',
      arity: 2,
      run: async ({ args: [name], caller }) => {
        const key = parseKey(name);
        if (key.kind === 'lease') return (await deps.leases.secondsLeft(key.runId, caller)) ?? -2;
        return (await kindOf(key, caller, deps)) === 'none' ? -2 : -1;
      },
    },
    {
      name: 'expire',
      arity: -3,
      flags: ['write', 'fast'],
      keys: oneKey,
      access: 'runs.start',
      run: (call) => expire(call, deps),
    },
    {
      name: 'keys',
      arity: 2,
      flags: ['readonly'],
      keys: noKeys,
      access: 'runs.read',
      run: async ({ args: [pattern], caller }) => {
        const wanted = pattern?.toString('latin1') ?? '';
        if (wanted.length > maxPatternBytes) return failure('ERR the pattern is too long');
        return (await names(caller, deps)).filter((name) => globMatches(wanted, name));
      },
    },
    {
      name: 'scan',
      arity: -2,
      flags: ['readonly'],
      keys: noKeys,
      access: 'runs.read',
      run: (call) => scan(call, deps),
    },
  ];
}

/** Renews a lease. The reply is 0 if the caller no longer holds the lease or a stop of the run was requested. */
async function expire(call: MemberCall, { leases }: KeysDeps): Promise<Answer> {
  const [name, time, ...others] = call.args;
  const seconds = integerOf(time);
  if (seconds === undefined) return notAnInteger;
  if (others.length > 0) return syntaxError;
  if (seconds < 1 || seconds > maxLeaseSeconds) {
    return failure(
      `ERR invalid expire time in 'expire' command: use 1 to ${maxLeaseSeconds} seconds`,
    );
  }
  const key = parseKey(name);
  if (key.kind !== 'lease') return 0;
  const held = await leases.held(key.runId, call);
  if (held === undefined || held.stop_requested) return 0;
  return (await leases.renew(held, seconds)) ? 1 : 0;
}

async function kindOf(key: Key, caller: Caller, deps: KeysDeps): Promise<KindOfValue> {
  const { reads, database, leases } = deps;
  switch (key.kind) {
    case 'none':
      return 'none';
    case 'jobs':
      return (await countWaiting(database, groupsOf(caller))) > 0 ? 'list' : 'none';
    case 'lease':
      return (await leases.secondsLeft(key.runId, caller)) === undefined ? 'none' : 'string';
    case 'logs': {
      const run = await findRun(reads, key.runId);
      if (run === undefined || !isIn(caller, run.group_id)) return 'none';
      return (await logTotals(database, key.runId)).logLines > 0 ? 'stream' : 'none';
    }
  }
}

/** Returns the keys that a caller can list: the jobs, the logs of active runs, and the caller's leases. */
async function names(caller: Caller, { database }: KeysDeps): Promise<readonly string[]> {
  const groups = groupsOf(caller);
  const [waiting, running, held] = await Promise.all([
    countWaiting(database, groups),
    listRunning(database, groups, maxNamed),
    may(caller, 'runs.start') ? listHeld(database, ownersOf(caller), maxNamed) : [],
  ]);
  return [
    ...(waiting > 0 ? [jobsKey] : []),
    ...running.map((runId) => `runs:${runId}:logs`),
    ...held.map((runId) => `runs:${runId}:lease`),
  ];
}

/** Returns all keys in one reply. The protocol permits this, because cursor 0 means that the list is complete. */
async function scan({ args, caller }: MemberCall, deps: KeysDeps): Promise<Answer> {
  const [cursor, ...options] = args;
  if (!/^\d{1,20}$/.test(textOf(cursor))) return failure('ERR invalid cursor');
  let pattern = '*';
  let kind: string | undefined;
  for (let at = 0; at < options.length; at += 2) {
    const value = options[at + 1];
    if (value === undefined) return syntaxError;
    switch (upper(options[at])) {
      case 'MATCH':
        pattern = value.toString('latin1');
        break;
      case 'COUNT':
        if ((integerOf(value) ?? 0) < 1) return syntaxError;
        break;
      case 'TYPE':
        kind = textOf(value).toLowerCase();
        break;
      default:
        return syntaxError;
    }
  }
  if (pattern.length > maxPatternBytes) return failure('ERR the pattern is too long');
  if (textOf(cursor) !== '0') return ['0', []];
  const all = await names(caller, deps);
  const kinds = { jobs: 'list', logs: 'stream', lease: 'string', none: 'none' } as const;
  const found = all.filter(
    (name) =>
      globMatches(pattern, name) &&
      (kind === undefined || kinds[parseKey(Buffer.from(name)).kind] === kind),
  );
  return ['0', found];
}
