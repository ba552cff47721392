/** Those of the wanted settings that are not so already. */
export function differing<Settings extends object>(
  settings: Settings,
  wanted: Partial<Settings>,
): Partial<Settings> {
  const names = Object.keys(wanted) as (keyof Settings)[];
  return Object.fromEntries(
    names.filter((name) => wanted[name] !== settings[name]).map((name) => [name, wanted[name]]),
  ) as Partial<Settings>;
}
