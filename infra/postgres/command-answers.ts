/** The answers of commands that are to be carried out once: a repeated one gets the first answer. */
import type { CommandId } from '#domain/kernel/ids.ts';
import type { Outcome } from '#domain/ports/commands.ts';
import type { Queryable } from './database.ts';

const statements = {
  find: `SELECT fingerprint, result FROM commands WHERE command_id = $1`,
  // A second command under the same id waits here for the first one's commit and then fails on the
  // key, to be decided again: it finds the answer then.
  store: `INSERT INTO commands (command_id, fingerprint, result, recorded_at)
    VALUES ($1, $2, $3, $4)`,
  forget: `DELETE FROM commands WHERE recorded_at < $1`,
};

interface StoredAnswer {
  readonly streamId: string;
  readonly version: number;
  readonly transactionId: string;
  readonly globalPosition: number;
}

/** What the command was answered before; `undefined` for a new one. */
export async function findAnswer(
  db: Queryable,
  commandId: CommandId,
  fingerprint: string,
): Promise<Outcome | undefined> {
  const { rows } = await db.query<{ fingerprint: string; result: StoredAnswer }>(statements.find, [
    commandId,
  ]);
  const [row] = rows;
  if (row === undefined) return undefined;
  if (row.fingerprint !== fingerprint) return { kind: 'mismatched' };
  const { streamId, version, transactionId, globalPosition } = row.result;
  return {
    kind: 'accepted',
    events: [],
    streamId,
    version,
    position: { transactionId: BigInt(transactionId), globalPosition },
    repeated: true,
  };
}

/** Keeps an accepted command's answer. */
export async function storeAnswer(
  db: Queryable,
  commandId: CommandId,
  fingerprint: string,
  outcome: Extract<Outcome, { kind: 'accepted' }>,
  recordedAt: Date,
): Promise<void> {
  const result: StoredAnswer = {
    streamId: outcome.streamId,
    version: outcome.version,
    transactionId: outcome.position.transactionId.toString(),
    globalPosition: outcome.position.globalPosition,
  };
  await db.query(statements.store, [commandId, fingerprint, JSON.stringify(result), recordedAt]);
}

/** Forgets answers older than `before`. @returns how many */
export async function forgetAnswers(db: Queryable, before: Date): Promise<number> {
  return (await db.query(statements.forget, [before])).rowCount ?? 0;
}
