/** The first setup steps on a new installation, for the dashboard's checklist. */
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';

export interface SetupSteps {
  readonly script: boolean;
  readonly run: boolean;
  /** Whether at least one schedule, webhook or chain exists. */
  readonly trigger: boolean;
  readonly channel: boolean;
}

const read = statement<SetupSteps>(`
  SELECT EXISTS (SELECT FROM scripts WHERE NOT deleted) AS script, EXISTS (SELECT FROM runs) AS run,
    EXISTS (SELECT FROM schedules) OR EXISTS (SELECT FROM webhooks)
      OR EXISTS (SELECT FROM chains WHERE NOT deleted) AS trigger,
    EXISTS (SELECT FROM notification_channels WHERE NOT deleted) AS channel`);

/** Returns which setup steps are complete. */
export async function setupSteps(db: ReadModels): Promise<SetupSteps> {
  const [steps] = await read(db);
  if (steps === undefined) throw new Error('a query without FROM has returned no row');
  return steps;
}
