import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take long for their size, the longest first: begun last, they would be waited for alone. */
const long = [
  'services/runtime/sandbox/ordinary-user.test.ts',
  'services/minimal/supervisor.test.ts',
  'services/minimal/replicas.test.ts',
  'services/backend/permissions.test.ts',
  'services/backend/bad-input.test.ts',
  'services/runtime/sandbox/limits.test.ts',
  'services/minimal/dashboard-pages.test.ts',
  'services/runtime/environments/environments.test.ts',
  'services/runtime/sandbox/attacks.test.ts',
  'services/minimal/survival.test.ts',
  'infra/postgres/rebuild.test.ts',
  'services/backend/read-models.test.ts',
  'infra/bus/nats-feed.test.ts',
  'infra/objects/s3.test.ts',
  'services/backend/routes/sdk.test.ts',
  'services/minimal/chat-bot.test.ts',
  'services/minimal/packages.test.ts',
  'services/minimal/rebuilds.test.ts',
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
