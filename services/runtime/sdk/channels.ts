/** The private sockets of the runs of this runtime. */
import { chmod, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from '#services/shared/logger.ts';
import { makeOwnFolder } from '../own-folders.ts';
import type { SdkCalls, SdkContext } from './call.ts';
import { RunChannel } from './run-channel.ts';

export class SdkChannels {
  readonly #folder: string;
  readonly #calls: SdkCalls;
  readonly #logger: Pick<Logger, 'error'>;

  private constructor(folder: string, calls: SdkCalls, logger: Pick<Logger, 'error'>) {
    this.#folder = folder;
    this.#calls = calls;
    this.#logger = logger;
  }

  static async open(
    parent: string,
    calls: SdkCalls,
    logger: Pick<Logger, 'error'>,
  ): Promise<SdkChannels> {
    // Short on purpose: the path of a Unix socket has at most 107 bytes.
    const folder = await makeOwnFolder(parent, 'orch-sdk');
    // Scripts may be other users: they can get to a socket whose name they know, and list none.
    await chmod(folder, 0o711);
    return new SdkChannels(folder, calls, logger);
  }

  /** A socket for one run. Its name cannot be guessed, for machines where a run sees the host's paths. */
  async of(run: Omit<SdkContext, 'spend'>): Promise<RunChannel> {
    const context = { ...run, spend: spending() };
    const path = join(this.#folder, `${randomBytes(12).toString('base64url')}.sock`);
    return await RunChannel.open(path, { calls: this.#calls, context, logger: this.#logger });
  }

  /** Removes the folder. The channels are closed. */
  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function spending(): SdkContext['spend'] {
  const spent = new Map<string, number>();
  return (what, most) => {
    const count = (spent.get(what) ?? 0) + 1;
    spent.set(what, Math.min(count, most));
    return count <= most;
  };
}
