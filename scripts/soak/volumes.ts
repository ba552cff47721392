/** Separate file systems for the data: small ones that can be filled, and one with simulated power cuts. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';

/** A small file system in memory. @returns a function that removes it; undefined if this user may not mount */
export function mountSmall(folder: string, megabytes: number): (() => void) | undefined {
  try {
    const options = `size=${megabytes}m,mode=0755`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return () => execFileSync('umount', [folder]);
}

/** A file system in a file. Only data that was flushed to the file survives `cutPower`. */
export class Disk {
  #file: string;
  #folder: string;

  private constructor(file: string, folder: string) {
    this.#file = file;
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
    execFileSync('mount', ['-o', 'loop', file, folder], { stdio: 'ignore' });
  }

  /** @returns undefined if this user may not mount */
  static make(file: string, folder: string, megabytes: number): Disk | undefined {
    try {
      execFileSync('truncate', [`--size=${megabytes}M`, file], { stdio: 'ignore' });
      execFileSync('mkfs.ext4', ['-q', '-F', file], { stdio: 'ignore' });
      return new Disk(file, folder);
    } catch {
      return undefined;
    }
  }

  /** Stops all writing immediately. Data that is only in memory is lost, including the journal of the file system. */
  cutPower(): void {
    // EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH. Node has no ioctl.
    const shutDown = `open(my $root, '<', $ARGV[0]) or die $!; my $how = pack('I', 2);
      ioctl($root, 0x8004587d, $how) or die $!;`;
    execFileSync('perl', ['-e', shutDown, this.#folder]);
  }

  /** Mounts a copy in another folder, as after a restart of the machine. A copy, because the kernel keeps the original
   *  file system as long as a sandbox on this machine has it in its mount namespace. */
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
