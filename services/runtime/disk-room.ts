/** Checks the free disk space for runs. On a full disk, every preparation would fail and use up the attempts of
 *  queued runs. Therefore, the runtime claims no runs until there is enough space again. */
import { diskSpace, type DiskSpace } from '#infra/system/disk.ts';
import type { Logger } from '#services/shared/logger.ts';

const mebibyte = 1024 * 1024;
const reserveBytes = 64 * mebibyte;
/** How long a measurement of sufficient space is valid for claims. Each measurement waits for a thread. */
const validMs = 1_000;
/** The fraction of a small disk that is reserved. */
const reservePart = 0.05;

export interface DiskRoomOptions {
  /** A folder on the disk that stores the files and environments of runs. */
  readonly folder: string;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
  /** Measures the disk of a folder. Default: `diskSpace`. */
  readonly measure?: (folder: string) => Promise<DiskSpace | undefined>;
  /** Returns the milliseconds of a monotonic clock. Default: `performance.now` */
  readonly nowMs?: () => number;
}

export class DiskRoom {
  readonly #options: DiskRoomOptions;
  #problem: string | undefined;
  #measuredAtMs = -Infinity;

  constructor(options: DiskRoomOptions) {
    this.#options = options;
  }

  /** Why no run is claimed, as a message for the operator, or undefined while there is enough space. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Returns whether a run may be claimed. Measures the free space at most once per second while it suffices. */
  async mayClaim(): Promise<boolean> {
    const { nowMs = () => performance.now() } = this.#options;
    const isValid = this.#problem === undefined && nowMs() - this.#measuredAtMs < validMs;
    if (isValid) return true;
    this.#measuredAtMs = nowMs();
    return await this.hasRoom();
  }

  /** Measures the free space. @returns whether it suffices for preparing runs */
  async hasRoom(): Promise<boolean> {
    const { folder, logger, measure = diskSpace } = this.#options;
    const space = await measure(folder);
    const hadRoom = this.#problem === undefined;
    this.#problem = space && problemOf(space, folder);
    const hasRoom = this.#problem === undefined;
    if (hadRoom && !hasRoom) logger.warn({ problem: this.#problem }, 'the disk is full');
    if (!hadRoom && hasRoom) logger.info('the disk has space again');
    return hasRoom;
  }
}

function problemOf({ freeBytes, totalBytes }: DiskSpace, folder: string): string | undefined {
  const neededBytes = Math.min(reserveBytes, totalBytes * reservePart);
  if (freeBytes >= neededBytes) return undefined;
  const [free, needed] = [freeBytes, neededBytes].map((bytes) => Math.floor(bytes / mebibyte));
  return (
    `only ${free} MiB are free on the disk of ${folder}, so no runs are claimed; free at least ${needed} ` +
    'MiB'
  );
}
