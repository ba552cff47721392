/** Limits the capabilities of a service that root starts. */
import { spawnSync } from 'node:child_process';

/** The capabilities that the runtime needs to contain runs and to clean up after them. The names are those of
 *  setpriv(1). The launcher later drops these capabilities: see `CAPS_OF_LAUNCHER` in python/kernel/syscalls.py. */
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

/** Returns a command line that starts a program with only these capabilities. An ordinary user has no capabilities
 *  to limit. If setpriv is missing or refused, as in some containers, the program starts with all capabilities. */
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
