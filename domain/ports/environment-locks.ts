/** Locks: the resolved package requirements of scripts (contract §3, "Script"). */
import type { ScriptId } from '#domain/kernel/ids.ts';

/** Identifies a lock by a script version and the kind of machine and interpreter. */
export interface LockPlace {
  readonly scriptId: ScriptId;
  readonly scriptVersion: number;
  /** The kind of machine and interpreter, such as `Linux-x86_64-cpython-312`. */
  readonly target: string;
}

export interface EnvironmentLock extends LockPlace {
  /** One package per line as `name==version`, with hashes if known. */
  readonly lock: string;
  readonly lockedAt: Date;
}

export interface EnvironmentLocks {
  /** Returns the lock, or `undefined` if the requirements have not been resolved yet. */
  find(place: LockPlace): Promise<string | undefined>;

  /** Records a lock unless another process has already recorded one. @returns the recorded lock */
  record(place: LockPlace, lock: string): Promise<string>;

  /** Returns all locks of a script version. */
  ofVersion(scriptId: ScriptId, scriptVersion: number): Promise<readonly EnvironmentLock[]>;
}
