/** Parses the supported key names. */
import { parseRunId, type RunId } from '#domain/kernel/ids.ts';
import { failure } from './resp/replies.ts';

export const jobsKey = 'runtime:jobs';

export type Key =
  | { readonly kind: 'jobs' }
  | { readonly kind: 'logs' | 'lease'; readonly runId: RunId }
  /** The name matches no supported key. */
  | { readonly kind: 'none' };

export function parseKey(name: Buffer | undefined): Key {
  const text = name?.toString('latin1') ?? '';
  if (text === jobsKey) return { kind: 'jobs' };
  const [, id = '', kind] = /^runs:([0-9a-f-]{36}):(logs|lease)$/i.exec(text) ?? [];
  const runId = parseRunId(id);
  if (runId === undefined) return { kind: 'none' };
  return { kind: kind === 'logs' ? 'logs' : 'lease', runId };
}

export const wrongType = failure(
  'WRONGTYPE Operation against a key holding the wrong kind of value',
);
export const syntaxError = failure('ERR syntax error');
export const notAnInteger = failure('ERR value is not an integer or out of range');

/** Parses an integer in Redis's format. */
export function integerOf(argument: Buffer | undefined): number | undefined {
  const text = argument?.toString('latin1') ?? '';
  const value = /^(0|-?[1-9]\d{0,18})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}
