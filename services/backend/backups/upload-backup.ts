/** Accepts uploads of backups that were downloaded earlier. */
import { fileURLToPath } from 'node:url';
import type { BackupCommand } from '#domain/backup/commands.ts';
import { mustParse, parseBackupId, parseCommandId, type BackupId } from '#domain/kernel/ids.ts';
import { DamagedBackup, NewerBackup } from '#infra/backup/damaged.ts';
import type { BackupSummary } from '#infra/backup/format.ts';
import { contentOf } from '#infra/backup/record.ts';
import { RestoreRefused } from '#infra/backup/schema-match.ts';
import { receiveBackup } from '#infra/backup/upload.ts';
import { withUploadLock } from '#infra/backup/work.ts';
import { findBackup } from '#projections/backups/queries.ts';
import { version } from '#services/shared/version.ts';
import type { Call } from '../http/operation.ts';
import { accepted } from '../http/outcome.ts';
import { isProblem, problem, type Problem } from '../http/problem.ts';
import { BodyCut } from '../http/wire/body.ts';
import type { Services } from '../services.ts';

/** Larger backups must be copied to the backup folder manually. */
export const maxUploadBytes = 64 * 1024 ** 3;

const migrations = fileURLToPath(new URL('../../../migrations', import.meta.url));

/** Thrown to abort an upload. Contains the problem to report. */
class Turned extends Error {
  readonly problem: Problem;

  constructor(reason: Problem) {
    super(reason.detail);
    this.problem = reason;
  }
}

/** Stores and verifies the backup, and only then lists it. Uploads are processed one at a time.
 *  @returns the backup's ID, or the reason for the refusal */
export async function uploadBackup(
  chunks: AsyncIterable<Uint8Array>,
  context: Call['context'],
  services: Services,
): Promise<BackupId | Problem> {
  let outcome: BackupId | Problem = busy;
  const work = async () => {
    outcome = await takeIn(chunks, context, services).catch(problemOf);
  };
  await withUploadLock(services.pool, work, timeoutMs);
  return outcome;
}

// The maximum wait for the lock. The scheduler's cleanup takes less time.
const timeoutMs = 2_000;

const busy = problem(
  'backup_in_use',
  'Another backup is being uploaded. Try again when that upload has finished.',
);

async function takeIn(
  chunks: AsyncIterable<Uint8Array>,
  context: Call['context'],
  services: Services,
): Promise<BackupId | Problem> {
  const { objects, database, masterKeys, commands, ids } = services;
  const parts = { objects, database, masterKeys, version, migrations };
  const summary = await receiveBackup(chunks, parts, (found) => admit(found, services));
  const backupId = idOf(summary);
  const execute = async (command: BackupCommand, commandId = context.commandId) =>
    accepted(await commands.execute(command, { ...context, commandId }));
  const content = contentOf({ summary });
  const taken = await execute({ type: 'TakeInBackup', backupId, content });
  if (isProblem(taken)) return taken;
  // Requests a verification of the stored backup. The backup's content can be verified only if the backup key is known.
  const checked = await execute(
    { type: 'CheckBackup', backupId },
    mustParse(parseCommandId, ids.derived(context.commandId, 'check')),
  );
  return isProblem(checked) ? checked : backupId;
}

const idOf = ({ backupId }: BackupSummary): BackupId => mustParse(parseBackupId, backupId);

/** Never overwrites an existing backup. */
async function admit(summary: BackupSummary, { readModels }: Services): Promise<void> {
  const row = await findBackup(readModels, idOf(summary));
  if (row === undefined || row.status === 'failed') return;
  const isBusy = row.status === 'running';
  const remedy = isBusy ? 'Wait until it is complete.' : 'Delete it before you upload this file.';
  const detail = `The backup of ${summary.createdAt} already exists. ${remedy}`;
  throw new Turned(problem(isBusy ? 'backup_in_use' : 'already_exists', detail));
}

function problemOf(error: unknown): Problem {
  if (error instanceof Turned) return error.problem;
  if (error instanceof NewerBackup) return problem('backup_newer', error.message);
  if (error instanceof DamagedBackup || error instanceof RestoreRefused) {
    return problem('backup_damaged', `${error.message} The upload was discarded.`);
  }
  if (error instanceof BodyCut) {
    return problem('backup_damaged', 'The file is truncated. The upload was discarded.');
  }
  throw error;
}
