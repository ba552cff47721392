/** The command line's reports about verified and restored backups. */
import type { BackupSummary } from '#infra/backup/format.ts';
import type { RestoreReport } from '#infra/backup/restore.ts';
import type { VerifiedBackup } from '#infra/backup/verify.ts';

/** Returns the report on a verified backup. */
export function wholeText(
  { backupId, createdAt }: BackupSummary,
  verified: VerifiedBackup,
): string {
  const { manifest, unsealed } = verified;
  const what = `${manifest.events} events, ${manifest.objects} objects`;
  const is = unsealed === null ? 'is intact' : 'matches its checksums';
  return [`Backup ${backupId} of ${createdAt} ${is}: ${what}.`, ...warnings(verified)].join('\n');
}

/** Returns the report on a restored backup. */
export function restoredText(
  { backupId, createdAt }: BackupSummary,
  verified: VerifiedBackup,
  { events, objects, isInPlace, active, ended }: RestoreReport,
): string {
  const activeText = list([
    counted(active.accounts, 'account'),
    counted(active.tokens, 'API token'),
    counted(active.sessions, 'session'),
  ]);
  const count = (type: string) => ended.filter((one) => one.type === type).length;
  const kept = [
    [count('TokenRevoked'), 'revoked API token'],
    [count('SessionClosed'), 'ended session'],
    [count('UserChanged'), 'disabled account'],
    [count('UserPasswordChanged'), 'changed password'],
    [count('WebhookRotated'), 'replaced webhook token'],
    [count('WebhookChanged'), 'disabled webhook'],
  ] as const;
  const keptText = list(kept.flatMap(([n, noun]) => (n === 0 ? [] : [counted(n, noun)])));
  return [
    `Restored backup ${backupId} of ${createdAt}: ${events} events, ${objects} objects.`,
    isInPlace ? `Active now: ${activeText}.` : `Active again: ${activeText}.`,
    ...(isInPlace && ended.length > 0 ? [`Changes kept since the backup: ${keptText}.`] : []),
    ...(active.accounts === 0
      ? ['No user can sign in. Run: orchestrator admin reset-password EMAIL --enable']
      : []),
    ...warnings(verified),
  ].join('\n');
}

function warnings({ unsealed, foreignKeys }: VerifiedBackup): readonly string[] {
  return [
    ...(unsealed === null ? [] : [`The seal was not verified: ${unsealed}`]),
    ...(foreignKeys === 0
      ? []
      : [
          `${counted(foreignKeys, 'data key')} cannot be decrypted with the master keys of this installation, ` +
            'so their secrets cannot be read.',
        ]),
  ];
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function list(items: readonly string[]): string {
  return items.join(', ');
}
