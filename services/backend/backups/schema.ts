/** The wire format of backups. */
import { backupKinds } from '#domain/backup/backup.ts';
import { maxBackupsKept } from '#domain/system/backup-schedule.ts';
import Type from 'typebox';
import { examples, Nullable, Page, Time, Uuid } from '../http/schema.ts';

const strict = { additionalProperties: false } as const;
const Whole = () => Type.Integer({ minimum: 0 });

export const Backup = Type.Object(
  {
    id: Uuid(),
    status: Type.Enum(['running', 'complete', 'failed']),
    kind: Type.Enum(backupKinds),
    position: Nullable(Whole()),
    events: Nullable(Whole()),
    size_bytes: Nullable(Whole()),
    sha256: Nullable(Type.String({ description: "SHA-256 of the backup's archive, in hex." })),
    encrypted: Nullable(Type.Boolean()),
    version: Nullable(
      Type.String({ description: 'Version of the platform that created the backup.' }),
    ),
    created_at: Time(),
    created_by: Type.String(),
    finished_at: Nullable(Time()),
    verified_at: Nullable(Time()),
    problem: Nullable(
      Type.String({
        description: 'Why the backup failed or is damaged, or why it was not restored.',
      }),
    ),
    progress: Nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'Progress of creation or verification, from 0 to 1.',
      }),
    ),
    verifying: Type.Boolean(),
    restoring: Type.Boolean(),
  },
  {
    title: 'Backup',
    ...strict,
    examples: [
      {
        id: examples.backupId,
        status: 'complete',
        kind: 'manual',
        position: 4711,
        events: 4700,
        size_bytes: 1_048_576,
        sha256: 'a'.repeat(64),
        encrypted: true,
        version: '0.1.13',
        created_at: examples.time,
        created_by: 'ada@example.com',
        finished_at: examples.time,
        verified_at: null,
        problem: null,
        progress: null,
        verifying: false,
        restoring: false,
      },
    ],
  },
);
export const BackupPage = Page('BackupPage', Backup);

const keep = {
  minimum: 1,
  maximum: maxBackupsKept,
  description: 'Number of scheduled backups to keep. Older scheduled backups are deleted.',
} as const;
const cron = { maxLength: 200, description: '`null` disables scheduled backups.' } as const;

export const BackupSchedule = Type.Object(
  {
    cron: Nullable(Type.String(cron)),
    timezone: Type.String(),
    keep: Type.Integer(keep),
    next_at: Nullable(Time()),
    changed_at: Nullable(Time()),
    changed_by: Nullable(Type.String()),
  },
  {
    title: 'BackupSchedule',
    ...strict,
    examples: [
      {
        cron: '0 3 * * *',
        timezone: 'Europe/Berlin',
        keep: 7,
        next_at: examples.time,
        changed_at: examples.time,
        changed_by: 'ada@example.com',
      },
    ],
  },
);

export const BackupScheduleChange = Type.Object(
  {
    cron: Type.Optional(Nullable(Type.String(cron))),
    timezone: Type.Optional(Type.String({ maxLength: 100 })),
    keep: Type.Optional(Type.Integer(keep)),
  },
  { title: 'BackupScheduleChange', ...strict },
);
