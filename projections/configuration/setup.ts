/** The first steps on a new installation, for the checklist of the dashboard. */
import type { ReadModels } from '../projection.ts';
import { statement } from '../statement.ts';

export interface SetupSteps {
  readonly script: boolean;
  readonly run: boolean;
  /** Whether a schedule, a webhook or a chain exists. */
  readonly trigger: boolean;
  readonly channel: boolean;
}

const read = statement<SetupSteps>(`
  SELECT EXISTS (SELECT FROM scripts WHERE NOT deleted) AS script, EXISTS (SELECT FROM runs) AS run,
    EXISTS (SELECT FROM schedules) OR EXISTS (SELECT FROM webhooks)
      OR EXISTS (SELECT FROM chains WHERE NOT deleted) AS trigger,
    EXISTS (SELECT FROM notification_channels WHERE NOT deleted) AS channel`);

/** Which steps are done. */
export async function setupSteps(db: ReadModels): Promise<SetupSteps> {
  const [steps] = await read(db);
  if (steps === undefined) throw new Error('a query without FROM has returned no row');
  return steps;
}
