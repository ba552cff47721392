import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../../scripts/testing/optional-service.ts';
import type { RunSpec } from './sandbox.ts';
import { FAMILIES, isPossible } from './testing/attacks.ts';
import { ATTEMPTS } from './testing/attempts.ts';
import { Bench, gone, systemPython } from './testing/bench.ts';
import { availableLayers, namespaces, testUser } from './testing/machine.ts';
import { residentSpec, runResident } from './testing/resident-runs.ts';

const python = await systemPython();

/** Attempts each attack in the second run of a resident process. */
function attackFromResidentProcesses(bench: Bench): void {
  let scripts = 0;
  bench.run = async (...given: Parameters<Bench['run']>) => {
    const [fixture, args = [], change = {}] = given;
    const program = { path: 'program.py', source: join(import.meta.dirname, 'fixtures', fixture) };
    scripts += 1;
    const own: Partial<RunSpec> = { ...change, scriptId: `attacker-${scripts}` };
    const specOf = (params: object) => {
      const spec = residentSpec(bench, params, own, {}, 'resident_program.py');
      return { ...spec, files: [...spec.files, { ...program, mode: 0o644 }] };
    };
    const first = await (await bench.start(specOf({}))).outcome();
    const second = await (await bench.start(specOf({ arguments: args }))).outcome();
    expect(second.run.pid).toBe(first.run.pid);
    return second;
  };
}

const families = FAMILIES.filter(({ way }) => ['reach', 'gain', 'call', 'take'].includes(way));

describeWith(namespaces, 'from a resident process', () => {
  test.each(families)(
    '$title is prevented when all layers are enabled',
    { timeout: 120_000 },
    async (family) => {
      const names = family.attacks
        .filter((attack) => isPossible(attack, testUser, availableLayers))
        .map(({ name }) => name);
      const bench = await Bench.open({ maxResidents: 16, ...(python && { python }) });
      try {
        attackFromResidentProcesses(bench);
        const through = await ATTEMPTS[family.way](bench, names);
        expect(through.filter((one) => names.includes(one))).toEqual([]);
      } finally {
        await bench.close();
      }
    },
  );
});

describeWith(namespaces, 'child processes of an idle resident process', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.open({ maxResidents: 4 });
  });
  afterAll(() => bench.close());

  test('are killed when the launcher exits', async () => {
    const first = await runResident(bench, { action: 'child' });
    const launcher = bench.sandbox.launcherPid ?? 0;
    process.kill(launcher, 'SIGKILL');
    await gone(first.run.pid);
  });
});
