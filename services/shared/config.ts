/** Reads the settings of a process from environment variables. `settings.ts` declares them. Reports all errors
 *  together, and freezes the result. */
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

/** The settings of `openObjectStore`. */
export const objectStoreSettings = [
  'objectsDir',
  'objectsUrl',
  's3Endpoint',
  's3Region',
  's3AccessKeyId',
  's3SecretAccessKey',
  's3PathStyle',
] as const satisfies readonly SettingName[];

/** The settings of `openPlatform`. */
export const platformSettings = [
  'databaseUrl',
  'maxClockDifferenceSeconds',
  'natsUrl',
  'natsCredentials',
  'natsPrefix',
  ...telemetryNames,
] as const satisfies readonly SettingName[];

/** The current master key, followed by the other key during a rotation. */
export function masterKeys(
  config: Pick<Settings, 'secretMasterKey' | 'secretMasterKeyOther'>,
): readonly [Uint8Array, ...Uint8Array[]] {
  const { secretMasterKey, secretMasterKeyOther: other } = config;
  return other === undefined ? [secretMasterKey] : [secretMasterKey, other];
}

/** Settings that are checked in every process, so that their errors are reported together with the others. */
const EVERYWHERE = [
  'logLevel',
  'supervised',
  'onDemand',
  'warmUp',
] as const satisfies readonly SettingName[];

/** All errors in a configuration, one per line. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`invalid configuration:\n${problems.map((line) => `  ${line}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Reads the named settings. If a variable has the suffix `_FILE`, its value is the path of a file that contains the
 *  setting.
 *  @throws ConfigError with every problem in every named setting */
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
      // Ignores an error of this setting here. It is reported when the setting itself is read.
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

/** How a setting is configured in a process. */
export interface SettingState {
  readonly name: string;
  /** The effective value as text; `null` if there is no value, or if it is secret. */
  readonly value: string | null;
  readonly secret: boolean;
  /** Where the value comes from. `unknown` means a secret that this process does not receive. */
  readonly source: 'default' | 'environment' | 'file' | 'unknown';
  readonly expected: string;
}

/** How all settings are configured, in the order of `settings.ts`, without the values of secrets.
 *  @param given names of the secrets that the process receives */
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

/** The value as text. Defaults are included, and paths are absolute. */
function shownValue(setting: Setting<unknown>, environment: Environment): string | null {
  const { value } = readOne(setting, environment);
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return null;
  if (typeof value === 'string') return value;
  return textOf(setting.variable, environment).text ?? JSON.stringify(value);
}

/** One line for every unknown `ORCH_` variable, with the closest match. */
export function unknownVariables(environment: Environment = process.env): readonly string[] {
  const known = Object.values(settings).flatMap(({ variable }) => [variable, `${variable}_FILE`]);
  return Object.keys(environment)
    .filter((name) => name.startsWith('ORCH_') && !name.startsWith('ORCH_TEST_'))
    .filter((name) => !known.includes(name))
    .toSorted()
    .map((name) => `unknown setting ${name}; did you mean ${nearest(name, known)}?`);
}
