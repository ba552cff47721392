import type { ScriptId } from '#domain/kernel/ids.ts';
import type {
  EnvironmentLock,
  EnvironmentLocks,
  LockPlace,
} from '#domain/ports/environment-locks.ts';
import type { Queryable } from '../database.ts';

const statements = {
  find: `SELECT lock FROM environment_locks
    WHERE script_id = $1 AND script_version = $2 AND target = $3`,
  record: `INSERT INTO environment_locks (script_id, script_version, target, lock)
    VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
  list: `SELECT target, lock, locked_at FROM environment_locks
    WHERE script_id = $1 AND script_version = $2 ORDER BY target`,
  remove: `DELETE FROM environment_locks WHERE script_id = $1`,
};

export class PostgresEnvironmentLocks implements EnvironmentLocks {
  readonly #db: Queryable;

  constructor(db: Queryable) {
    this.#db = db;
  }

  async find({ scriptId, scriptVersion, target }: LockPlace): Promise<string | undefined> {
    const values = [scriptId, scriptVersion, target];
    const { rows } = await this.#db.query<{ lock: string }>(statements.find, values);
    return rows[0]?.lock;
  }

  async record(place: LockPlace, lock: string): Promise<string> {
    const { scriptId, scriptVersion, target } = place;
    const { rowCount } = await this.#db.query(statements.record, [
      scriptId,
      scriptVersion,
      target,
      lock,
    ]);
    // A concurrent purge of the script may have removed the lock.
    return rowCount === 1 ? lock : ((await this.find(place)) ?? lock);
  }

  async ofVersion(scriptId: ScriptId, scriptVersion: number): Promise<readonly EnvironmentLock[]> {
    const { rows } = await this.#db.query<{ target: string; lock: string; locked_at: Date }>(
      statements.list,
      [scriptId, scriptVersion],
    );
    return rows.map(({ locked_at: lockedAt, ...row }) => ({
      scriptId,
      scriptVersion,
      lockedAt,
      ...row,
    }));
  }
}

/** Removes the environment locks of all versions of a script. */
export async function removeLocks(db: Queryable, scriptId: string): Promise<void> {
  await db.query(statements.remove, [scriptId]);
}
