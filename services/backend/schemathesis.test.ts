/** Generated requests to every operation, as several callers: each answer is as the API description says. */
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { accountHolder, apiToken } from './testing/people.ts';
import { conformance, schemathesis } from './testing/schemathesis/run.ts';
import { startTestBackend, type TestBackend } from './testing/test-backend.ts';

/** For a longer run by hand, such as `--phases coverage,fuzzing,stateful --max-examples 50`. */
const longer = process.env['SCHEMATHESIS_ARGS']?.split(' ');
const timeout = 1_800_000;

/** Asks a backend of its own, which may be changed in any way. */
async function expectConformance(
  maxExamples: number,
  callerOf: (platform: TestBackend) => Promise<Readonly<Record<string, string>>>,
): Promise<void> {
  const platform = await startTestBackend({ positionPatienceMs: 50 });
  try {
    const phases = ['--phases', 'examples,fuzzing', '--max-examples', String(maxExamples)];
    const caller = await callerOf(platform);
    const { requests, failures } = await conformance(platform.origin, longer ?? phases, caller);
    expect(failures).toBe('');
    expect(requests).toBeGreaterThan(longer === undefined ? 300 : 0);
    expect(platform.logged.errors).toEqual([]);
  } finally {
    await platform.close();
  }
}

describeWith(schemathesis, 'generated requests', () => {
  test.concurrent('of administrators who signed in', { timeout }, async () => {
    await expectConformance(3, async (platform) => {
      const wanted = { role: 'administrator', groupIds: [] } as const;
      const made = await Promise.all(
        Array.from({ length: 8 }, () => accountHolder(platform, wanted)),
      );
      const accounts = made.map(({ email, password }) => ({ email, password }));
      return { TEST_ACCOUNTS: JSON.stringify(accounts) };
    });
  });

  test.concurrent('of an API token that reads runs', { timeout }, async () => {
    await expectConformance(2, async ({ admin }) => ({
      TEST_TOKEN: (await apiToken(admin, ['runs:read'])).client.token ?? '',
    }));
  });
});
