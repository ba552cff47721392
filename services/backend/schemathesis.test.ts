/** Sends generated requests to each operation as several callers. Each response must match the API description. */
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { description } from './testing/described.ts';
import { accountHolder, apiToken, groups } from './testing/people.ts';
import { describeThings } from './testing/schemathesis/description.ts';
import { conformance, schemathesis, type Answers } from './testing/schemathesis/run.ts';
import { startTestBackend, type TestBackend } from './testing/test-backend.ts';
import type { TestClient } from './testing/test-client.ts';

/** Options for longer manual runs, such as `--phases coverage,fuzzing,stateful --max-examples 50 --seed 1`. Prints
 *  the number of responses of each status for each operation. */
const longer = process.env['SCHEMATHESIS_ARGS']?.split(' ');
const timeout = 1_800_000;

/** Operations for which no generated request can succeed, with the reason. */
const cannotSucceed = new Set([
  // The request needs an account's password, a one-time code, a cookie, or the ID of a session that no earlier request
  // has revoked.
  'POST /api/v1/auth/login',
  'POST /api/v1/auth/refresh',
  'DELETE /api/v1/auth/sessions/{session_id}',
  'POST /api/v1/auth/second-factor',
  'POST /api/v1/auth/second-factor/challenge',
  'POST /api/v1/auth/second-factor/disable',
  'POST /api/v1/auth/second-factor/passkeys',
  'POST /api/v1/auth/second-factor/passkeys/options',
  'PATCH /api/v1/auth/second-factor/passkeys/{passkey_id}',
  'POST /api/v1/auth/second-factor/passkeys/{passkey_id}/remove',
  'POST /api/v1/auth/second-factor/recovery-codes',
  // The request needs an identity provider.
  'POST /api/v1/auth/oidc/{provider}/backchannel-logout',
  // The request needs a Git server that responds.
  'POST /api/v1/repositories/{repository_id}/sync',
  'POST /api/v1/hooks/git/{token}',
  'POST /hooks/git/{token}',
  // The request needs a backup file, a complete configuration, or the version of the next release.
  'POST /api/v1/backups/upload',
  'POST /api/v1/system/config',
  'POST /api/v1/system/updates/apply',
]);

/** Tests a separate backend, whose data may change in any way.
 *  @returns the responses of each operation */
async function expectConformance(
  args: readonly string[],
  callerOf: (
    platform: TestBackend,
  ) => Promise<{ readonly owner: TestClient; readonly caller: Readonly<Record<string, string>> }>,
): Promise<Answers> {
  const platform = await startTestBackend({ positionTimeoutMs: 50 });
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
  test.concurrent('finds no violation as a signed-in administrator', { timeout }, async () => {
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
    // Skips this check in a manual run, which may omit the examples that refer to existing resources.
    if (longer !== undefined) return;
    expect(neverSucceeded(answers).filter((one) => !cannotSucceed.has(one))).toEqual([]);
  });

  test.concurrent(
    'finds no violation as an API token that may only read runs',
    { timeout },
    async () => {
      const args = ['--phases', 'examples,fuzzing', '--max-examples', '1'];
      const answers = await expectConformance(args, async ({ admin }) => {
        const token = (await apiToken(admin, ['runs:read'])).client.token ?? '';
        return { owner: admin, caller: { TEST_TOKEN: token } };
      });
      if (longer !== undefined) return;
      expect(Object.keys(answers['GET /api/v1/runs/{run_id}'] ?? {})).toContain('200');
    },
  );
});

/** The operations without a 2xx response. */
function neverSucceeded(answers: Answers): readonly string[] {
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  return operations.filter((one) =>
    Object.keys(answers[one] ?? {}).every((status) => !status.startsWith('2')),
  );
}
