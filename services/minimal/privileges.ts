/** The capabilities of a service that user 0 starts. */
import { spawnSync } from 'node:child_process';

/** The capabilities with which the runtime contains runs and cleans up after them, by the names of
 *  setpriv(1). The launcher gives up the same ones: see `CAPS_OF_LAUNCHER` in python/kernel/syscalls.py. */
export const runtimeCapabilities: readonly string[] = [
  'chown',
  'dac_override',
  'fowner',
  'kill',
  'setgid',
  'setuid',
  'setpcap',
  'sys_chroot',
  'sys_ptrace',
  'sys_admin',
  'sys_resource',
  'setfcap',
  'checkpoint_restore',
];

/** The command line that starts a program with these capabilities and no others. An ordinary user has
 *  none, and where setpriv is missing or refused, as in some containers, the program starts as it is. */
export function withCapabilities(
  kept: readonly string[],
  command: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  if (process.getuid?.() !== 0) return command;
  const bounding = ['-all', ...kept.map((name) => `+${name}`)].join(',');
  const limited = ['setpriv', `--bounding-set=${bounding}`, '--inh-caps=-all'] as const;
  const isPossible = spawnSync(limited[0], [...limited.slice(1), 'true']).status === 0;
  return isPossible ? [...limited, ...command] : command;
}
