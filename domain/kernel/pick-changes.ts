import { isSameJson } from './json.ts';

/** Returns the requested settings that differ from the current ones. */
export function pickChanges<Settings extends object>(
  settings: Settings,
  wanted: Partial<Settings>,
): Partial<Settings> {
  const names = Object.keys(wanted) as (keyof Settings)[];
  return Object.fromEntries(
    names
      .filter((name) => !isSameJson(wanted[name], settings[name]))
      .map((name) => [name, wanted[name]]),
  ) as Partial<Settings>;
}
