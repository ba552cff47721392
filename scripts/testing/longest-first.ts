import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Test files that are slow for their size, slowest first. If they started late, they would prolong the whole test
 *  run. */
const long = [
  'services/backend/schemathesis.test.ts',
  'web/e2e/roles.test.ts',
  'services/minimal/documentation.test.ts',
  'web/e2e/pages.test.ts',
  'services/runtime/sandbox/ordinary-user.test.ts',
  'web/e2e/editor.test.ts',
  'services/minimal/api-clients.test.ts',
  'services/minimal/replicas.test.ts',
  'services/minimal/supervisor.test.ts',
  'web/e2e/layout.test.ts',
  // Waits for the images, which CI builds at the same time.
  'infra/deploy/images.test.ts',
  'services/backend/bad-input.test.ts',
  'infra/backup/ended-access.test.ts',
  'services/runtime/sandbox/attacks.test.ts',
  'scripts/soak/soak.test.ts',
  'services/minimal/releases/guard-killed.test.ts',
  'services/backend/permissions.test.ts',
  'services/runtime/warm/start-hooks.test.ts',
  'web/e2e/core-workflow.test.ts',
  'web/e2e/settings.test.ts',
  'services/minimal/upgrade.test.ts',
  'web/e2e/keyboard.test.ts',
  'services/minimal/survival.test.ts',
  'services/runtime/sandbox/limits.test.ts',
  'services/minimal/npm-package.test.ts',
  'web/e2e/runs.test.ts',
  'web/e2e/failures.test.ts',
  'web/e2e/overview.test.ts',
  'web/e2e/tasks.test.ts',
  'web/e2e/second-factor.test.ts',
  'web/e2e/history-and-approvals.test.ts',
  'web/e2e/errors-and-logs.test.ts',
  'web/e2e/lists.test.ts',
  'infra/backup/damage.test.ts',
  'services/minimal/command-line.test.ts',
  'services/scheduler/backups/keeper-killed.test.ts',
  'web/e2e/sessions.test.ts',
  'services/minimal/rolling-restart.test.ts',
  'services/backend/permission-matrix.test.ts',
  'services/runtime/warm/keepers.test.ts',
  'infra/deploy/helm.test.ts',
  'services/minimal/silent-database.test.ts',
  'services/runtime/environments/environments.test.ts',
  'services/minimal/run-policies.test.ts',
  'services/backend/updates/updater-killed.test.ts',
  'services/minimal/chat-bot.test.ts',
  'services/runtime/locked-environment.test.ts',
  'infra/embedded/postgres.test.ts',
  'services/minimal/run-errors.test.ts',
  'services/scheduler/backups/keeper.test.ts',
  'services/backend/repositories/repositories.test.ts',
  'services/minimal/objects-away.test.ts',
  'services/minimal/resident.test.ts',
  'infra/postgres/rebuild/rebuild.test.ts',
  'infra/postgres/script-queries/script-queries.test.ts',
];

/** Starts the test files in `long` first, then the others, slowest first. If no durations are known, the largest files
 *  come first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = long.findIndex((path) => moduleId.endsWith(`/${path}`));
      return found === -1 ? long.length : found;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
