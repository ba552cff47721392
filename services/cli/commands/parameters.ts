/** Parses the parameters of a run from the command line. */
import { usageProblem } from '../problem.ts';

type Properties = Readonly<Record<string, { readonly type?: unknown }>>;

/** Parses the parameters of a run.
 *  @param json one JSON object
 *  @param pairs parameters as `name=value`, which override members of the object
 *  @param properties the properties in the script's `parameters_schema`. The values of text properties stay text; other
 *  values are parsed as JSON if possible.
 *  @returns undefined without parameters
 *  @throws CommandProblem */
export function parametersOf(
  json: string | undefined,
  pairs: readonly string[],
  properties: Properties,
): Readonly<Record<string, unknown>> | undefined {
  if (json === undefined && pairs.length === 0) return undefined;
  return {
    ...(json !== undefined && objectOf(json)),
    ...Object.fromEntries(pairs.map((pair) => valueOf(pair, properties))),
  };
}

function objectOf(json: string): object {
  const value = parsed(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw usageProblem('--params is not a JSON object, such as \'{"day": "2026-11-21"}\'.');
  }
  return value;
}

function valueOf(pair: string, properties: Properties): readonly [string, unknown] {
  const at = pair.indexOf('=');
  if (at < 1) throw usageProblem(`--param is "${pair}": expected NAME=VALUE.`);
  const [name, text] = [pair.slice(0, at), pair.slice(at + 1)];
  if (properties[name]?.type === 'string') return [name, text];
  return [name, parsed(text) ?? (text === 'null' ? null : text)];
}

/** `undefined` if the text is invalid JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
