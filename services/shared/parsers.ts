/** The kinds of settings. Each function creates a `Setting` for `settings.ts`. */
import { resolve } from 'node:path';
import { invalid, type Setting } from './setting.ts';

export const httpAddress = {
  expected: 'a URL like https://host.example.com',
  pattern: /^https?:\/\/[^\s@?#]+$/,
};
export const namedValues = {
  expected: 'names and values like name=value,other=value',
  pattern: /^[^=,\s]+=[^,]*(,[^=,\s]+=[^,]*)*$/,
};

type Fallback<T> = T | NonNullable<Setting<T>['fallback']>;

function setting<T>(
  variable: string,
  kind: Pick<Setting<T>, 'expected' | 'parse'> & { readonly secret?: boolean },
  fallback?: Fallback<T>,
): Setting<T> {
  const { expected, parse, secret = false } = kind;
  if (fallback === undefined) return { variable, expected, parse, secret };
  const given =
    typeof fallback === 'function'
      ? (fallback as NonNullable<Setting<T>['fallback']>)
      : () => fallback;
  return { variable, expected, parse, secret, fallback: given };
}

/** Makes a setting optional: its value is undefined if the variable is missing. */
export function optional<T>(required: Setting<T>): Setting<T | undefined> {
  return { ...required, fallback: () => undefined };
}

/** Makes a setting secret, so that its value is never shown. */
export function secret<T>(shown: Setting<T>): Setting<T> {
  return { ...shown, secret: true };
}

export function integer(
  variable: string,
  range: { readonly min: number; readonly max: number },
  fallback?: Fallback<number>,
): Setting<number> {
  const parse = (text: string): number | typeof invalid => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= range.min && value <= range.max ? value : invalid;
  };
  const expected = `a whole number from ${range.min} to ${range.max}`;
  return setting(variable, { expected, parse }, fallback);
}

export function port(variable: string, fallback: number): Setting<number> {
  return integer(variable, { min: 1, max: 65_535 }, fallback);
}

export function flag(variable: string, fallback: Fallback<boolean>): Setting<boolean> {
  const words = new Map([
    ['true', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ]);
  const parse = (text: string): boolean | typeof invalid =>
    words.get(text.toLowerCase()) ?? invalid;
  return setting(variable, { expected: 'true or false', parse }, fallback);
}

export function oneOf<const T extends string>(
  variable: string,
  values: readonly T[],
  fallback: T,
): Setting<T> {
  const parse = (text: string): T | typeof invalid =>
    values.find((value) => value === text) ?? invalid;
  return setting<T>(variable, { expected: `one of ${values.join(', ')}`, parse }, () => fallback);
}

/** Text that matches `pattern` completely. */
export function text(
  variable: string,
  kind: { readonly expected: string; readonly pattern: RegExp },
  fallback?: Fallback<string>,
): Setting<string> {
  const parse = (value: string): string | typeof invalid =>
    kind.pattern.test(value) ? value : invalid;
  return setting(variable, { expected: kind.expected, parse }, fallback);
}

/** A path; relative paths are resolved from the working folder. */
export function path(variable: string, fallback?: Fallback<string>): Setting<string> {
  const parse = (value: string): string | typeof invalid =>
    value.includes('\0') ? invalid : resolve(value);
  return setting(variable, { expected: 'a path', parse }, fallback);
}

/** A list of texts, separated by commas. Each must match `pattern` completely. Default: empty. */
export function list(
  variable: string,
  kind: { readonly expected: string; readonly pattern: RegExp },
): Setting<readonly string[]> {
  const parse = (value: string): readonly string[] | typeof invalid => {
    const items = value.split(',').map((item) => item.trim());
    return items.every((item) => kind.pattern.test(item)) ? items : invalid;
  };
  return setting<readonly string[]>(variable, { expected: kind.expected, parse }, () => []);
}

/** A list of some of these values, separated by commas. Default: empty. */
export function listOf<const T extends string>(
  variable: string,
  values: readonly T[],
): Setting<readonly T[]> {
  const parse = (text: string): readonly T[] | typeof invalid => {
    const items = text.split(',').map((item) => item.trim());
    const known = values.filter((value) => items.includes(value));
    return known.length === items.length ? known : invalid;
  };
  const expected = `some of ${values.join(', ')}, separated by commas`;
  return setting<readonly T[]>(variable, { expected, parse }, () => []);
}

/** Addresses, separated by commas, such as the servers of one cluster.
 *  @param kind `protocols` includes the colon of each protocol */
export function addresses(
  variable: string,
  kind: { readonly expected: string; readonly protocols: readonly string[] },
): Setting<readonly URL[]> {
  const parse = (value: string): readonly URL[] | typeof invalid => {
    const urls = value.split(',').map((item) => URL.parse(item.trim()));
    const good = urls.filter((url) => url !== null && isAddress(url, kind.protocols));
    return good.length === urls.length ? (good as URL[]) : invalid;
  };
  return setting(variable, { expected: kind.expected, parse });
}

function isAddress({ protocol, host, pathname }: URL, protocols: readonly string[]): boolean {
  return protocols.includes(protocol) && host !== '' && ['', '/'].includes(pathname);
}

/** 32 bytes in base64 (either alphabet) or hex, generated at random. */
export function key(variable: string): Setting<Buffer> {
  const parse = (value: string): Buffer | typeof invalid => {
    const bytes = bytesOf(value);
    // The minimum number of distinct values. Random bytes practically always have more; typed text and examples have
    // fewer.
    const isRandom = bytes !== undefined && new Set(bytes).size >= minDistinctBytes;
    return isRandom ? bytes : invalid;
  };
  const expected =
    '32 randomly generated bytes in base64 or hex, for example from `openssl rand -hex 32`';
  return setting(variable, { expected, parse, secret: true });
}

/** 32 bytes in base64 (either alphabet) or hex that is not secret, such as a public key. */
export function publicKey(variable: string): Setting<Buffer> {
  const parse = (value: string): Buffer | typeof invalid => bytesOf(value) ?? invalid;
  return setting(variable, { expected: '32 bytes in base64 or hex', parse });
}

const minDistinctBytes = 12;

function bytesOf(value: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(value)) return Buffer.from(value, 'hex');
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(value) ? Buffer.from(value, 'base64') : undefined;
}
