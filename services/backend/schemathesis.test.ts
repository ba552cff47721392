/** Generated requests to every operation, as several callers: each answer is as the API description says. */
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { description } from './testing/described.ts';
import { accountHolder, apiToken, groups } from './testing/people.ts';
import { describeThings } from './testing/schemathesis/description.ts';
import { conformance, schemathesis, type Answers } from './testing/schemathesis/run.ts';
import { startTestBackend, type TestBackend } from './testing/test-backend.ts';
import type { TestClient } from './testing/test-client.ts';

/** For a longer run by hand, such as `--phases coverage,fuzzing,stateful --max-examples 50 --seed 1`. It prints
 *  how many answers of each status every operation gave. */
const longer = process.env['SCHEMATHESIS_ARGS']?.split(' ');
const timeout = 1_800_000;

/** Operations that no generated request can satisfy. */
const cannotSucceed = new Set([
  // Need the password of an account, a cookie, the id of a session that no request before has revoked.
  'POST /api/v1/auth/login',
  'POST /api/v1/auth/refresh',
  'DELETE /api/v1/auth/sessions/{session_id}',
  // Need the file of a backup, a whole configuration, the version of the next release.
  'POST /api/v1/backups/upload',
  'POST /api/v1/system/config',
  'POST /api/v1/system/updates/apply',
]);

/** Asks a backend of its own, which may be changed in any way.
 *  @returns the answers that each operation gave */
async function expectConformance(
  args: readonly string[],
  callerOf: (
    platform: TestBackend,
  ) => Promise<{ readonly owner: TestClient; readonly caller: Readonly<Record<string, string>> }>,
): Promise<Answers> {
  const platform = await startTestBackend({ positionPatienceMs: 50 });
  try {
    const { owner, caller } = await callerOf(platform);
    const things = await describeThings(platform, { groupId: groups.custom, owner });
    const { answers, failures } = await conformance(
      platform.origin,
      things,
      longer ?? [...args, '--generation-deterministic'],
      caller,
    );
    if (longer !== undefined) process.stdout.write(`${JSON.stringify(answers, undefined, 1)}\n`);
    expect(failures).toBe('');
    expect(platform.logged.errors).toEqual([]);
    return answers;
  } finally {
    await platform.close();
  }
}

describeWith(schemathesis, 'generated requests', () => {
  test.concurrent('by an administrator who signed in', { timeout }, async () => {
    const args = ['--phases', 'examples,fuzzing', '--max-examples', '3'];
    const answers = await expectConformance(args, async (platform) => {
      const wanted = { role: 'administrator', groupIds: [] } as const;
      const made = await Promise.all(
        Array.from({ length: 8 }, () => accountHolder(platform, wanted)),
      );
      const accounts = made.map(({ email, password }) => ({ email, password }));
      const caller = { TEST_ACCOUNTS: JSON.stringify(accounts) };
      return { owner: made[0]?.client ?? platform.admin, caller };
    });
    // A run by hand may leave out the examples, which name things that exist.
    if (longer !== undefined) return;
    expect(neverSucceeded(answers).filter((one) => !cannotSucceed.has(one))).toEqual([]);
  });

  test.concurrent('by an API token that reads runs', { timeout }, async () => {
    const args = ['--phases', 'examples,fuzzing', '--max-examples', '1'];
    const answers = await expectConformance(args, async ({ admin }) => {
      const token = (await apiToken(admin, ['runs:read'])).client.token ?? '';
      return { owner: admin, caller: { TEST_TOKEN: token } };
    });
    if (longer !== undefined) return;
    expect(Object.keys(answers['GET /api/v1/runs/{run_id}'] ?? {})).toContain('200');
  });
});

/** The operations of the description without an answer 2xx. */
function neverSucceeded(answers: Answers): readonly string[] {
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  return operations.filter((one) =>
    Object.keys(answers[one] ?? {}).every((status) => !status.startsWith('2')),
  );
}
