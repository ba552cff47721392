import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import {
  FAMILIES,
  holdingLayers,
  isPossible,
  layersWithout,
  type Family,
} from './testing/attacks.ts';
import { ATTEMPTS } from './testing/attempts.ts';
import { Bench, systemPython } from './testing/bench.ts';
import { availableLayers, testUser } from './testing/machine.ts';

const python = await systemPython();

interface Sandbox {
  readonly layers: readonly string[];
  /** Names of attacks that succeeded. */
  readonly through: readonly string[];
}

/** Tries attacks while some layers are disabled. */
async function tried(
  { way }: Family,
  names: readonly string[],
  without: readonly string[],
): Promise<Sandbox> {
  const bench = await Bench.open({ without, lenient: true, ...(python && { python }) });
  try {
    const through = await ATTEMPTS[way](bench, names);
    return { layers: bench.sandbox.layers, through: through.filter((one) => names.includes(one)) };
  } finally {
    await bench.close();
  }
}

process.stdout.write(`active layers: ${availableLayers.join(', ')}\n`);

/** The attack families, without attacks that this user or machine does not permit even without a sandbox. */
const families = FAMILIES.map((family) => ({
  ...family,
  attacks: family.attacks.filter((attack) => isPossible(attack, testUser, availableLayers)),
})).filter(({ attacks }) => attacks.length > 0);

describe.each(families)('$title', { timeout: 120_000 }, (family) => {
  const { attacks } = family;
  const names = attacks.map(({ name }) => name);
  const held = new Map(attacks.map((one) => [one.name, holdingLayers(one, availableLayers)]));
  const holding = [...new Set([...held.values()].flat())];

  // docs/sandbox.md says which attacks succeed on a machine without namespaces. On other machines, this list is empty.
  const successful = names.filter((name) => held.get(name)?.length === 0);
  test('is prevented when all layers are enabled', async () => {
    const { through } = await tried(family, names, []);
    expect(through.toSorted()).toEqual(successful.toSorted());
  });

  test('succeeds when all layers that prevent it are disabled', async () => {
    const { through } = await tried(family, names, layersWithout(family));
    expect(through.toSorted()).toEqual(names.toSorted());
  });

  test.each(holding)('is prevented by the layer %s alone', async (layer) => {
    const own = names.filter((name) => held.get(name)?.includes(layer));
    const { layers, through } = await tried(family, own, layersWithout(family, layer));
    expect(layers).toContain(layer);
    expect(through).toEqual([]);
  });
});

/** Formats the attacks as table rows. Each row contains the attacks that the same layers prevent. */
function rowsOf({ title, attacks }: Family): readonly string[] {
  const alike = Map.groupBy(attacks, ({ heldBy, only }) => JSON.stringify([heldBy, only]));
  return [...alike.values()].map((those) => {
    const { heldBy = [], only } = those[0] ?? {};
    const names = those.map(({ name }) => name).join(', ');
    const layers = heldBy.map((layer) => `\`${layer}\``).join(', ');
    return `| ${title} | ${names} | ${layers} | ${only ?? 'all'} |`;
  });
}

test('docs/sandbox.md lists each attack with the layers that prevent it', async () => {
  const page = await readFile(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8');
  const lines = page.split('\n').map((line) => line.replaceAll(/ +/g, ' '));
  const rows = FAMILIES.flatMap(rowsOf);
  expect(
    lines.filter((line) => FAMILIES.some(({ title }) => line.startsWith(`| ${title} |`))),
  ).toEqual(rows);
});
