/** Parsers for settings. Each function creates a `Setting` for `settings.ts`. */
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

/** Makes a setting optional. If the variable is missing, the value is undefined. */
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

/** A text that matches `pattern` completely. */
export function text(
  variable: string,
  kind: { readonly expected: string; readonly pattern: RegExp },
  fallback?: Fallback<string>,
): Setting<string> {
  const parse = (value: string): string | typeof invalid =>
    kind.pattern.test(value) ? value : invalid;
  return setting(variable, { expected: kind.expected, parse }, fallback);
}

/** A path. Relative paths are resolved from the working directory. */
export function path(variable: string, fallback?: Fallback<string>): Setting<string> {
  const parse = (value: string): string | typeof invalid =>
    value.includes('\0') ? invalid : resolve(value);
  return setting(variable, { expected: 'a path', parse }, fallback);
}

/** A comma-separated list of texts, each of which matches `pattern` completely. Empty by default. */
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

/** A comma-separated list of some of the given values. Empty by default. */
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

/** A comma-separated list of addresses, such as the servers of a cluster.
 *  @param kind each of its `protocols` includes the colon */
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

/** A key of 32 random bytes, in hexadecimal or base64 (either alphabet). */
export function key(variable: string): Setting<Buffer> {
  const parse = (value: string): Buffer | typeof invalid => {
    const bytes = bytesOf(value);
    // Requires a minimum number of distinct bytes. Random bytes practically always meet this requirement, but typed
    // text and examples do not.
    const isRandom = bytes !== undefined && new Set(bytes).size >= minDistinctBytes;
    return isRandom ? bytes : invalid;
  };
  const expected =
    '32 randomly generated bytes in base64 or hex, for example from `openssl rand -hex 32`';
  return setting(variable, { expected, parse, secret: true });
}

/** A public value of 32 bytes, such as a public key, in hexadecimal or base64 (either alphabet). */
export function publicKey(variable: string): Setting<Buffer> {
  const parse = (value: string): Buffer | typeof invalid => bytesOf(value) ?? invalid;
  return setting(variable, { expected: '32 bytes in base64 or hex', parse });
}

const minDistinctBytes = 12;

function bytesOf(value: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(value)) return Buffer.from(value, 'hex');
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(value) ? Buffer.from(value, 'base64') : undefined;
}
