import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take long for their size, the longest first: begun last, they would be waited for alone. */
const long = [
  'services/minimal/dashboard-pages.test.ts',
  'services/runtime/sandbox/ordinary-user.test.ts',
  'services/minimal/replicas.test.ts',
  'services/minimal/supervisor.test.ts',
  'services/backend/bad-input.test.ts',
  'services/minimal/survival.test.ts',
  'services/runtime/sandbox/attacks.test.ts',
  'services/runtime/sandbox/limits.test.ts',
  'services/runtime/environments/environments.test.ts',
  'services/backend/permissions.test.ts',
  'services/minimal/dashboard.test.ts',
  'services/minimal/chat-bot.test.ts',
  'services/minimal/run-policies.test.ts',
  'services/minimal/sdk-calls.test.ts',
  'services/minimal/command-line.test.ts',
  'services/minimal/packages.test.ts',
  'services/runtime/locked-environment.test.ts',
  'services/backend/ws/feed.test.ts',
  'services/minimal/sdk.test.ts',
  'services/cli/backups.test.ts',
];

/** Begins those, and goes on as usual: with those that took longest, else with the largest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = long.findIndex((path) => moduleId.endsWith(`/${path}`));
      return found === -1 ? long.length : found;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
