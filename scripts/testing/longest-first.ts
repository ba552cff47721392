import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take long for their size, the longest first: begun last, they would be waited for alone. */
const long = [
  'services/runtime/sandbox/ordinary-user.test.ts',
  'web/e2e/roles.test.ts',
  'web/e2e/pages.test.ts',
  'services/backend/permissions.test.ts',
  'services/backend/permission-matrix.test.ts',
  'services/backend/schemathesis.test.ts',
  'services/minimal/replicas.test.ts',
  'services/minimal/documentation.test.ts',
  'infra/postgres/rebuild/rebuild.test.ts',
  'web/e2e/layout.test.ts',
  'web/e2e/keyboard.test.ts',
  'services/minimal/supervisor.test.ts',
  'services/minimal/survival.test.ts',
  'web/e2e/lists.test.ts',
  'services/runtime/sandbox/limits.test.ts',
  'web/e2e/bad-input.test.ts',
  'services/scheduler/housekeeping/retention.test.ts',
  'web/e2e/core-workflow.test.ts',
  'services/scheduler/backups/keeper.test.ts',
  'services/runtime/sandbox/attacks.test.ts',
  'services/backend/updates/updater-killed.test.ts',
  'services/minimal/upgrade.test.ts',
  'services/backend/bad-input.test.ts',
  'infra/postgres/readers/reactor.test.ts',
  'services/backend/configuration/configuration.test.ts',
  'services/runtime/environments/environments.test.ts',
  'infra/postgres/commands/chained-runs.test.ts',
  'services/scheduler/schedules/due-schedules.test.ts',
  'infra/postgres/readers/projector.test.ts',
  'infra/embedded/postgres.test.ts',
  'services/backend/read-models.test.ts',
  'infra/backup/restore.test.ts',
  'services/scheduler/housekeeping/purges.test.ts',
];

/** Starts these files, then continues as usual: with the slowest, otherwise with the largest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = long.findIndex((path) => moduleId.endsWith(`/${path}`));
      return found === -1 ? long.length : found;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
