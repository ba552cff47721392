/** Separate file systems for the data. The tests fill small file systems, and `Disk` simulates power cuts. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';

/** Mounts a small in-memory file system.
 *  @returns a function that removes it, or undefined if this user may not mount file systems */
export function mountSmall(folder: string, megabytes: number): (() => void) | undefined {
  try {
    const options = `size=${megabytes}m,mode=0755`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return () => execFileSync('umount', [folder]);
}

/** A file system stored in a file. After `cutPower`, only data that was flushed to the file remains. */
export class Disk {
  #file: string;
  #folder: string;

  private constructor(file: string, folder: string) {
    this.#file = file;
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
    execFileSync('mount', ['-o', 'loop', file, folder], { stdio: 'ignore' });
  }

  /** @returns undefined if this user may not mount file systems */
  static make(file: string, folder: string, megabytes: number): Disk | undefined {
    try {
      execFileSync('truncate', [`--size=${megabytes}M`, file], { stdio: 'ignore' });
      execFileSync('mkfs.ext4', ['-q', '-F', file], { stdio: 'ignore' });
      return new Disk(file, folder);
    } catch {
      return undefined;
    }
  }

  /** Stops all writes immediately. Data that is only in memory is lost, including the file system's journal. */
  cutPower(): void {
    // EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH. Node.js has no ioctl.
    const shutDown = `open(my $root, '<', $ARGV[0]) or die $!; my $how = pack('I', 2);
      ioctl($root, 0x8004587d, $how) or die $!;`;
    execFileSync('perl', ['-e', shutDown, this.#folder]);
  }

  /**
   * Mounts a copy in another folder, as after a restart of the machine. A copy is required because the original stays
   * mounted while a sandbox has it in its mount namespace.
   */
  moveTo(folder: string): void {
    const before = this.#file;
    const copy = `${before}-`;
    execFileSync('cp', ['--sparse=always', before, copy]);
    this.unmount();
    rmSync(before);
    this.#file = copy;
    this.#folder = new Disk(copy, folder).#folder;
  }

  unmount(): void {
    execFileSync('umount', ['--lazy', this.#folder]);
  }
}
