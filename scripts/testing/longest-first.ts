import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Test files that are slow for their size, slowest first: started last, they would delay the end. */
const long = [
  'web/e2e/roles.test.ts',
  'web/e2e/pages.test.ts',
  'services/runtime/sandbox/ordinary-user.test.ts',
  'services/minimal/documentation.test.ts',
  'services/backend/schemathesis.test.ts',
  'web/e2e/layout.test.ts',
  'services/minimal/supervisor.test.ts',
  'services/minimal/api-clients.test.ts',
  'services/minimal/replicas.test.ts',
  'services/minimal/releases/guard-killed.test.ts',
  'scripts/soak/soak.test.ts',
  'web/e2e/keyboard.test.ts',
  'services/minimal/survival.test.ts',
  'services/backend/bad-input.test.ts',
  'infra/backup/ended-access.test.ts',
  'web/e2e/bad-input.test.ts',
  'web/e2e/core-workflow.test.ts',
  'services/runtime/sandbox/attacks.test.ts',
  'services/runtime/sandbox/limits.test.ts',
  'services/runtime/warm/start-hooks.test.ts',
  // Waits for the images, which CI builds at the same time.
  'infra/deploy/images.test.ts',
  'web/e2e/settings.test.ts',
  'services/minimal/command-line.test.ts',
  'services/minimal/traces.test.ts',
  'services/backend/permissions.test.ts',
  'infra/backup/damage.test.ts',
  'web/e2e/overview.test.ts',
  'services/minimal/secret-leaks.test.ts',
  'web/e2e/editor.test.ts',
  'services/minimal/run-policies.test.ts',
  'services/scheduler/backups/keeper-killed.test.ts',
  'web/e2e/runs.test.ts',
  'services/runtime/warm/keepers.test.ts',
  'web/e2e/interruptions.test.ts',
  'web/e2e/sessions.test.ts',
  'services/minimal/upgrade.test.ts',
  'web/e2e/lists.test.ts',
  'services/runtime/locked-environment.test.ts',
  'services/backend/updates/updater-killed.test.ts',
  'web/e2e/run-log.test.ts',
  'services/minimal/silent-database.test.ts',
  'services/runtime/environments/environments.test.ts',
  'services/backend/permission-matrix.test.ts',
  'services/runtime/warm/equality.test.ts',
  'services/mcp/mcp.test.ts',
  'infra/postgres/script-queries/query-time.test.ts',
  'services/scheduler/backups/keeper.test.ts',
  'infra/postgres/rebuild/rebuild.test.ts',
  'services/cli/setup.test.ts',
  'infra/postgres/connection-watch.test.ts',
  'infra/postgres/script-queries/query-attacks.test.ts',
  'services/minimal/sdk-calls.test.ts',
  'services/minimal/sdk.test.ts',
  'services/minimal/run-errors.test.ts',
  'services/runtime/sandbox/fencing.test.ts',
  'infra/postgres/script-queries/script-queries.test.ts',
  'services/runtime/sandbox/required-layers.test.ts',
];

/** Starts these files first, then the slowest of the others, or the largest if no durations are known. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = long.findIndex((path) => moduleId.endsWith(`/${path}`));
      return found === -1 ? long.length : found;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
