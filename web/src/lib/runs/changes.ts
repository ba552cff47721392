import type { RunChanges } from '#lib/api/types.ts';
import { settingPairs } from '#lib/scripts/settings/labels.ts';
import type { Pair } from './compare/differences.ts';

type Values = readonly { name: string; before?: unknown; after?: unknown }[];

/** Returns a table of changed values for each part of a run that has changed. */
export function changedParts(changes: RunChanges): { title: string; pairs: Pair[] }[] {
  const { environment } = changes;
  const python = environment?.python ? [{ name: 'Python', ...environment.python }] : [];
  return [
    { title: 'Parameters', pairs: pairsOf(changes.parameters ?? []) },
    { title: 'Packages', pairs: pairsOf([...python, ...(environment?.packages ?? [])]) },
    { title: 'Settings', pairs: settingPairs(changes.settings ?? []) },
    { title: 'Runtime', pairs: pairsOf(changes.runtime) },
  ].filter(({ pairs }) => pairs.length > 0);
}

function pairsOf(values: Values): Pair[] {
  const text = (value: unknown) =>
    value == null ? null : typeof value === 'string' ? value : JSON.stringify(value);
  return values.map(({ name, before, after }) => ({
    name: name.replaceAll('_', ' '),
    before: text(before),
    after: text(after),
  }));
}

/** Returns the names of the variables and secrets that have changed. */
export function namesOf({ configuration }: RunChanges): {
  kind: 'Variable' | 'Secret';
  name: string;
  change: 'added' | 'changed' | 'removed';
}[] {
  const { variables, secrets } = configuration ?? {};
  return [
    ...(variables ?? []).map((one) => ({ kind: 'Variable' as const, ...one })),
    ...(secrets ?? []).map((one) => ({ kind: 'Secret' as const, ...one })),
  ];
}
