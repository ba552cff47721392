/** Offers the parameters of earlier runs for a new run. */
import type { Run } from '#lib/api/types.ts';
import type { ParameterField, Params } from './fields.ts';

/** The parameters of an earlier run of the script. */
export interface PreviousInputs {
  readonly run: Run;
  readonly params: Params;
  /** The parameters on one line, without secrets. */
  readonly summary: string;
}

const shownAtMost = 10;
const longestSummary = 70;

/** Returns the distinct parameters of the runs, newest first, each with the latest run that used them. */
export function previousInputs(
  runs: readonly Run[],
  fields: readonly ParameterField[],
): PreviousInputs[] {
  const secrets = new Set(fields.flatMap(({ kind, name }) => (kind === 'secret' ? [name] : [])));
  const found = new Map<string, PreviousInputs>();
  for (const run of runs) {
    const shown = Object.entries(run.params ?? {}).filter(([name]) => !secrets.has(name));
    if (shown.length === 0) continue;
    const key = JSON.stringify(shown.toSorted(([one], [other]) => (one < other ? -1 : 1)));
    const summary = shown.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ');
    const params = Object.fromEntries(shown);
    if (!found.has(key)) found.set(key, { run, params, summary: shortened(summary) });
  }
  return [...found.values()].slice(0, shownAtMost);
}

function shortened(text: string): string {
  return text.length > longestSummary ? `${text.slice(0, longestSummary - 1)}…` : text;
}
