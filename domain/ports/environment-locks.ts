/** What was chosen for the requirements of scripts: contract §3, "Script". */
import type { ScriptId } from '#domain/kernel/ids.ts';

/** Of what a lock is: a version of a script, on one kind of interpreter and machine. */
export interface LockPlace {
  readonly scriptId: ScriptId;
  readonly scriptVersion: number;
  /** Such as `Linux-x86_64-cpython-312`. */
  readonly target: string;
}

export interface EnvironmentLock extends LockPlace {
  /** One line a package: `name==version`, with hashes where they are known. */
  readonly lock: string;
  readonly lockedAt: Date;
}

export interface EnvironmentLocks {
  /** What was chosen; `undefined` where nothing was yet. */
  find(place: LockPlace): Promise<string | undefined>;

  /** Records what was chosen, unless somebody was first. @returns what is recorded */
  record(place: LockPlace, lock: string): Promise<string>;

  /** All locks of a version. */
  ofVersion(scriptId: ScriptId, scriptVersion: number): Promise<readonly EnvironmentLock[]>;
}
