/** Causes real packet loss with packet filter rules of the kernel, in a network namespace that only this test uses. */
import { execFileSync, spawnSync } from 'node:child_process';

const marker = 'ORCH_SOAK_NETWORK';
const inside = 'own';

/** Whether packets can be dropped without affecting other programs. */
export const hasOwnNetwork = process.env[marker] === inside;

/** Runs this program again in a new network namespace, and exits with its exit code. Returns if the process is already
 *  in its own namespace or may not create one. */
export function enterOwnNetwork(): void {
  if (hasOwnNetwork) return;
  const prepare = 'ip link set lo up && iptables -w -L INPUT >/dev/null';
  const unshare = (script: string, ...args: string[]) => [
    '--net',
    'sh',
    '-c',
    `${prepare} && ${script}`,
    ...args,
  ];
  if (spawnSync('unshare', unshare('true'), { stdio: 'ignore' }).status !== 0) return;
  const args = unshare('exec "$0" "$@"', process.execPath, ...process.argv.slice(1));
  const env = { ...process.env, [marker]: inside };
  process.exit(spawnSync('unshare', args, { stdio: 'inherit', env }).status ?? 1);
}

/** Drops packets to and from an address with this probability.
 *  @returns a function that stops dropping packets and returns the number of dropped packets */
export function losePackets(host: string, probability: number): () => number {
  if (!hasOwnNetwork)
    throw new Error('packet loss requires a network namespace that only this test uses');
  const loss =
    probability < 1
      ? ['-m', 'statistic', '--mode', 'random', '--probability', String(probability)]
      : [];
  const rules = ['--destination', '--source'].map((side) =>
    ['INPUT', side, host, '--protocol', 'tcp', loss, '--jump', 'DROP'].flat(),
  );
  for (const rule of rules) execFileSync('iptables', ['-w', '-A', ...rule]);
  return () => {
    const list = execFileSync('iptables', ['-w', '-nvxL', 'INPUT'], { encoding: 'utf8' });
    const own = list.split('\n').filter((line) => line.split(/\s+/).includes(host));
    for (const rule of rules) execFileSync('iptables', ['-w', '-D', ...rule]);
    return own.reduce((sum, line) => sum + Number(line.trim().split(/\s+/)[0]), 0);
  };
}
