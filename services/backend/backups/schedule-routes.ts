/** Reads and changes the backup schedule. */
import {
  nextBackupDue,
  noBackupSchedule,
  type BackupSchedule as Setting,
} from '#domain/system/backup-schedule.ts';
import { backupSchedule } from '#projections/backups/queries.ts';
import type { Static } from 'typebox';
import { operation, type Operation } from '../http/operation.ts';
import { accepted, positionHeader } from '../http/outcome.ts';
import { isProblem } from '../http/problem.ts';
import { json } from '../http/reply.ts';
import type { Services } from '../services.ts';
import { BackupSchedule, BackupScheduleChange } from './schema.ts';

const tag = 'Backups';
const path = '/api/v1/backups/schedule';
const access = { right: 'backups.manage' } as const;

const get = operation({
  method: 'get',
  path,
  operationId: 'getBackupSchedule',
  summary: 'Read the backup schedule and the number of backups to keep',
  tag,
  access,
  responses: { 200: { description: 'The settings.', schema: BackupSchedule } },
  handle: async (_call, services) => json(200, await scheduleJson(services)),
});

const put = operation({
  method: 'put',
  path,
  operationId: 'changeBackupSchedule',
  summary: 'Change the backup schedule and the number of backups to keep',
  description:
    'Omitted fields stay unchanged. If due times were missed, one backup is created. Only scheduled backups ' +
    'are removed automatically.',
  tag,
  access,
  body: {
    schema: BackupScheduleChange,
    example: { cron: '0 3 * * *', timezone: 'Europe/Berlin', keep: 7 },
  },
  responses: {
    200: { description: 'The settings.', schema: BackupSchedule, headers: ['Orch-Position'] },
  },
  handle: async ({ body, context }, services) => {
    const command = { type: 'ChangeBackupSchedule', changes: changesOf(body) } as const;
    const outcome = accepted(await services.commands.execute(command, context));
    if (isProblem(outcome)) return outcome;
    return json(200, await scheduleJson(services), positionHeader(outcome));
  },
});

function changesOf({
  cron,
  timezone,
  keep,
}: Static<typeof BackupScheduleChange>): Partial<Setting> {
  return {
    ...(cron !== undefined && { cron }),
    ...(timezone !== undefined && { timezone }),
    ...(keep !== undefined && { keep }),
  };
}

async function scheduleJson({ readModels, clock }: Services) {
  const row = await backupSchedule(readModels);
  const { cron, timezone, keep } = row ?? noBackupSchedule;
  return {
    cron,
    timezone,
    keep,
    next_at: nextBackupDue({ cron, timezone, keep }, clock.now()) ?? null,
    changed_at: row?.changed_at ?? null,
    changed_by: row?.changed_by ?? null,
  };
}

export const backupScheduleOperations: readonly Operation[] = [get, put];
