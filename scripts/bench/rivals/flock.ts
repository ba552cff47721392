/** Runs a crontab line with `flock`, started either by a client or by cron. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { interpreter } from '../bare-python.ts';
import { appending, timesIn } from './files.ts';
import { epochMs, measureRuns, NotAvailable, Service, type Rival } from './rival.ts';

const rounds = { sequential: 20, concurrent: 60 };
const jobs = 30;
const cron = '/usr/sbin/cron';
const minuteMs = 60_000;

/** A client executes the command of a crontab line. This setup has no queue, history, log or isolation. */
export const flock: Rival = {
  name: 'flock python3, without cron',
  async start(folder) {
    const script = join(folder, 'main.py');
    const lines = join(folder, 'lines');
    await writeFile(script, appending(lines));
    let runs = 0;
    const client = {
      async run() {
        const lock = join(folder, `lock-${(runs += 1)}`);
        await promisify(execFile)('flock', ['-n', lock, interpreter, script]);
      },
      firstLineAt: async () => (await timesIn(lines)).at(-1) ?? NaN,
    };
    return { measure: () => measureRuns(client, rounds), stop: () => Promise.resolve() };
  },
};

/** The daemon starts all lines of its crontab at the beginning of a minute. That time therefore counts as the request
 *  time. */
export const cronFlock: Rival = {
  name: 'cron with flock',
  async start(folder) {
    if (!existsSync(cron) || process.getuid?.() !== 0) {
      throw new NotAvailable('requires root and the Debian package cron');
    }
    const script = join(folder, 'main.py');
    const [lines, ends] = [join(folder, 'lines'), join(folder, 'ends')];
    const spool = join(folder, 'spool');
    await writeFile(script, appending(lines));
    const crontab = Array.from({ length: jobs }, (_, index) => {
      const command = `flock -n ${join(folder, `lock-${index}`)} ${interpreter} ${script}`;
      return `* * * * * ${command}; date +\\%s.\\%N >> ${ends}\n`;
    });
    await mkdir(join(spool, 'crontabs'), { recursive: true });
    const file = join(spool, 'crontabs', 'root');
    // Inside the daemon's mount namespace, this folder replaces the machine's crontabs.
    const mounts = `mount --bind ${spool} /var/spool/cron && mount -t tmpfs none /etc/cron.d &&
      mount --bind /dev/null /etc/crontab && mount -t tmpfs none /run`;
    const daemon = new Service('unshare', ['--mount', 'sh', '-c', `${mounts} && exec ${cron} -f`]);
    return {
      async measure() {
        for (const each of [lines, ends]) await rm(each, { force: true });
        await writeFile(file, `MAILTO=""\n${crontab.join('')}`, { mode: 0o600 });
        const startedAt = epochMs();
        while ((await timesIn(ends)).length < jobs) {
          if (epochMs() > startedAt + 3 * minuteMs)
            throw new Error('cron did not execute its jobs');
          await pause(50);
        }
        await rm(file);
        const [firstLines, allEnds] = [await timesIn(lines), await timesIn(ends)];
        const dueAt = Math.floor(Math.min(...firstLines) / minuteMs) * minuteMs;
        return {
          finishedMs: Math.min(...allEnds) - dueAt,
          firstLineMs: Math.min(...firstLines) - dueAt,
          perSecond: (jobs * 1000) / (Math.max(...allEnds) - dueAt),
        };
      },
      stop: () => daemon.stop(),
    };
  },
};
