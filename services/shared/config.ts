/** Reads a process's settings, which `settings.ts` declares, from environment variables. All errors are reported
 *  together, and the result is frozen. */
import { readFileSync } from 'node:fs';
import { nearest } from './nearest.ts';
import { invalid, type Others, type Setting } from './setting.ts';
import { settings } from './settings.ts';
import { telemetryNames } from './telemetry-settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type SettingName = keyof typeof settings;
export type Settings = {
  readonly [K in SettingName]: (typeof settings)[K] extends Setting<infer T> ? T : never;
};

/** The settings that `openObjectStore` needs. */
export const objectStoreSettings = [
  'objectsDir',
  'objectsUrl',
  's3Endpoint',
  's3Region',
  's3AccessKeyId',
  's3SecretAccessKey',
  's3PathStyle',
] as const satisfies readonly SettingName[];

/** The settings that `openPlatform` needs. */
export const platformSettings = [
  'databaseUrl',
  'maxClockDifferenceSeconds',
  'natsUrl',
  'natsCredentials',
  'natsPrefix',
  ...telemetryNames,
] as const satisfies readonly SettingName[];

/** Returns the current master key. During a rotation, the other key follows. */
export function masterKeys(
  config: Pick<Settings, 'secretMasterKey' | 'secretMasterKeyOther'>,
): readonly [Uint8Array, ...Uint8Array[]] {
  const { secretMasterKey, secretMasterKeyOther: other } = config;
  return other === undefined ? [secretMasterKey] : [secretMasterKey, other];
}

/** Every process checks these settings, so that all configuration errors are reported together. */
const EVERYWHERE = [
  'logLevel',
  'supervised',
  'onDemand',
  'warmUp',
] as const satisfies readonly SettingName[];

/** Contains all errors in a configuration, one per line. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`invalid configuration:\n${problems.map((line) => `  ${line}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Reads the given settings. For a variable with the suffix `_FILE`, the setting is read from the file at that path.
 *  @throws ConfigError with all problems in these settings */
export function readConfig<K extends SettingName>(
  names: readonly K[],
  environment: Environment = process.env,
): Readonly<Pick<Settings, K>> {
  const results = [...new Set([...names, ...EVERYWHERE])].map((name) => ({
    name,
    ...readOne(settings[name], environment),
  }));
  const problems = results.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) throw new ConfigError(problems);
  const entries = results.slice(0, new Set(names).size).map(({ name, value }) => [name, value]);
  return Object.freeze(Object.fromEntries(entries)) as Readonly<Pick<Settings, K>>;
}

function readOne(
  setting: Setting<unknown>,
  environment: Environment,
): { value?: unknown; problem?: string } {
  const { variable, expected, fallback } = setting;
  const source = textOf(variable, environment);
  if (source.problem !== undefined) return { problem: source.problem };
  if (source.text === undefined) {
    if (fallback !== undefined) return { value: fallback(othersIn(environment)) };
    return { problem: `${variable} is missing: expected ${expected}` };
  }
  const value = setting.parse(source.text);
  if (value !== invalid) return { value };
  const shown = setting.secret ? 'a hidden value' : JSON.stringify(source.text);
  return { problem: `${source.variable} is ${shown}: expected ${expected}` };
}

function othersIn(environment: Environment): Others {
  return {
    get dataDir() {
      // Ignored here, because the error is reported when the setting itself is read.
      return (readOne(settings.dataDir, environment).value as string | undefined) ?? '';
    },
    get edition() {
      const { value } = readOne(settings.edition, environment);
      return value === 'minimal' ? value : 'production';
    },
  };
}

function textOf(
  variable: string,
  environment: Environment,
): { variable: string; text?: string; problem?: string } {
  const file = `${variable}_FILE`;
  const [own, path] = [environment[variable], environment[file]];
  if (own && path)
    return { variable, problem: `${variable} and ${file} are both set: expected only one of them` };
  if (!path) return own ? { variable, text: own } : { variable };
  try {
    return { variable: file, text: readFileSync(path, 'utf8').replace(/\r?\n$/, '') };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    return {
      variable: file,
      problem: `${file} is ${JSON.stringify(path)}: expected a readable file (${code})`,
    };
  }
}

/** A setting's value in a process, and the origin of the value. */
export interface SettingState {
  readonly name: string;
  /** The effective value as text, or `null` if there is no value or the value is secret. */
  readonly value: string | null;
  readonly secret: boolean;
  /** The origin of the value. A secret that this process does not receive has the origin `unknown`. */
  readonly source: 'default' | 'environment' | 'file' | 'unknown';
  readonly expected: string;
}

/** Returns the state of all settings in the order of `settings.ts`, without secret values.
 *  @param given the names of the secrets that this process receives */
export function settingStates(
  given: readonly SettingName[],
  environment: Environment = process.env,
): readonly SettingState[] {
  return Object.entries(settings).map(([name, setting]: [string, Setting<unknown>]) => {
    const { variable, secret, expected } = setting;
    const isGiven = !secret || given.includes(name as SettingName);
    const source = isGiven ? sourceOf(variable, environment) : 'unknown';
    const value = secret ? null : shownValue(setting, environment);
    return { name: variable, value, secret, source, expected };
  });
}

function sourceOf(variable: string, environment: Environment): SettingState['source'] {
  if (environment[`${variable}_FILE`]) return 'file';
  return environment[variable] ? 'environment' : 'default';
}

/** Returns the value as text, with defaults filled in and paths made absolute. */
function shownValue(setting: Setting<unknown>, environment: Environment): string | null {
  const { value } = readOne(setting, environment);
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return null;
  if (typeof value === 'string') return value;
  return textOf(setting.variable, environment).text ?? JSON.stringify(value);
}

/** Returns a message for each unknown `ORCH_` variable, with the closest match. */
export function unknownVariables(environment: Environment = process.env): readonly string[] {
  const known = Object.values(settings).flatMap(({ variable }) => [variable, `${variable}_FILE`]);
  return Object.keys(environment)
    .filter((name) => name.startsWith('ORCH_') && !name.startsWith('ORCH_TEST_'))
    .filter((name) => !known.includes(name))
    .toSorted()
    .map((name) => `unknown setting ${name}; did you mean ${nearest(name, known)}?`);
}
