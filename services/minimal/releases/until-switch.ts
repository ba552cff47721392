/** Waits until another release is requested. */
import { watch } from 'node:fs';
import type { Releases } from '#services/shared/releases.ts';

/** Resolves when a switch is requested, or when `signal` aborts. */
export async function untilSwitch(releases: Releases, signal: AbortSignal): Promise<void> {
  releases.make();
  await new Promise<void>((resolve) => {
    const watcher = watch(releases.folder, look);
    signal.addEventListener('abort', done);
    // Checks once immediately, because the request may precede the watch.
    look();

    function look(): void {
      // Ignores a switch whose trial has begun, because this process is part of the trial.
      if (releases.read('switch')?.isTried === false) done();
    }
    function done(): void {
      watcher.close();
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
