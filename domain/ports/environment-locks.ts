/** The resolved requirements of scripts: contract §3, "Script". */
import type { ScriptId } from '#domain/kernel/ids.ts';

/** Identifies a lock: a version of a script, and the kind of interpreter and machine. */
export interface LockPlace {
  readonly scriptId: ScriptId;
  readonly scriptVersion: number;
  /** The kind of machine and interpreter, such as `Linux-x86_64-cpython-312`. */
  readonly target: string;
}

export interface EnvironmentLock extends LockPlace {
  /** One line per package: `name==version`, with hashes if known. */
  readonly lock: string;
  readonly lockedAt: Date;
}

export interface EnvironmentLocks {
  /** The lock; `undefined` if the requirements are not resolved yet. */
  find(place: LockPlace): Promise<string | undefined>;

  /** Records a lock unless another process has already recorded one. @returns the recorded lock */
  record(place: LockPlace, lock: string): Promise<string>;

  /** All locks of a version. */
  ofVersion(scriptId: ScriptId, scriptVersion: number): Promise<readonly EnvironmentLock[]>;
}
