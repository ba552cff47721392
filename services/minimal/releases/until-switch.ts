/** Waits until somebody wants another release. */
import { watch } from 'node:fs';
import type { Releases } from '#services/shared/releases.ts';

/** Resolves once a switch is wanted, or `signal` says that nobody waits any more. */
export async function untilSwitch(releases: Releases, signal: AbortSignal): Promise<void> {
  releases.make();
  await new Promise<void>((resolve) => {
    const watcher = watch(releases.folder, look);
    signal.addEventListener('abort', done);
    // What came before anybody watched.
    look();

    function look(): void {
      // One that is tried already is the start of this very process.
      if (releases.read('switch')?.isTried === false) done();
    }
    function done(): void {
      watcher.close();
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
