/** Stores the results of idempotent commands. A repeated command returns the first result. */
import type { CommandId } from '#domain/kernel/ids.ts';
import type { CommandContext, Outcome } from '#domain/ports/commands.ts';
import type { Queryable } from '../database.ts';

const statements = {
  find: `SELECT command_id, fingerprint, result FROM commands WHERE command_id = ANY($1::uuid[])`,
  // A concurrent command with the same ID waits here for the first command's commit, then fails on the primary key. The
  // retry finds the stored result.
  store: `INSERT INTO commands (command_id, fingerprint, result, recorded_at)
    SELECT id, fingerprint, jsonb_build_object('streamId', a.stream_id, 'version', a.version,
      'transactionId', coalesce(e.transaction_id, '0')::text,
      'globalPosition', coalesce(e.global_position, 0)), $5
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[])
      AS a (id, fingerprint, stream_id, version)
    LEFT JOIN events e ON e.stream_id = a.stream_id AND e.version = a.version`,
  forget: `DELETE FROM commands WHERE recorded_at < $1`,
};

interface StoredAnswer {
  readonly streamId: string;
  readonly version: number;
  readonly transactionId: string;
  readonly globalPosition: number;
}

interface AnswerRow {
  readonly command_id: string;
  readonly fingerprint: string;
  readonly result: StoredAnswer;
}

/** An accepted command and the resulting version of its stream. */
export interface Answered {
  readonly commandId: CommandId;
  readonly fingerprint: string;
  readonly streamId: string;
  readonly version: number;
}

/** Looks up the stored results of commands. A new command has no result. */
export async function findAnswers(
  db: Queryable,
  contexts: readonly CommandContext[],
): Promise<(context: CommandContext) => Outcome | undefined> {
  const once = contexts.filter((context) => context.fingerprint !== undefined);
  if (once.length === 0) return () => undefined;
  const { rows } = await db.query<AnswerRow>(statements.find, [
    once.map((context) => context.commandId),
  ]);
  const found = new Map(rows.map((row) => [row.command_id, row]));
  return ({ commandId, fingerprint }) => {
    const row = fingerprint === undefined ? undefined : found.get(commandId);
    if (row === undefined) return undefined;
    return row.fingerprint === fingerprint ? outcomeOf(row.result) : { kind: 'mismatched' };
  };
}

function outcomeOf({ streamId, version, transactionId, globalPosition }: StoredAnswer): Outcome {
  return {
    kind: 'accepted',
    events: [],
    streamId,
    version,
    position: { transactionId: BigInt(transactionId), globalPosition },
    repeated: true,
  };
}

/** Stores the results of accepted commands, in the transaction that appends their events. */
export async function storeAnswers(
  db: Queryable,
  answered: readonly Answered[],
  recordedAt: Date,
): Promise<void> {
  if (answered.length === 0) return;
  await db.query(statements.store, [
    answered.map(({ commandId }) => commandId),
    answered.map(({ fingerprint }) => fingerprint),
    answered.map(({ streamId }) => streamId),
    answered.map(({ version }) => version),
    recordedAt,
  ]);
}

/** Deletes results older than `before`. @returns the number of deleted results */
export async function purgeAnswers(db: Queryable, before: Date): Promise<number> {
  return (await db.query(statements.forget, [before])).rowCount ?? 0;
}
