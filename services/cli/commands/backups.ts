/** Commands for backups (docs/backup.md). */
import { stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { basename, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { part, type Api } from '#services/shared/api-client.ts';
import { listOf } from '../answers.ts';
import { writeFileOf } from '../api/answer.ts';
import type { Command } from '../command.ts';
import { CommandProblem, exitCodes, usageProblem } from '../problem.ts';
import { printTable } from '../table.ts';
import { expectArgs } from './runs.ts';

const pollEveryMs = 500;
const shown = 50;
/** The timeout is long, because a large backup takes a long time on a slow connection. */
const downloadMs = 24 * 60 * 60_000;

interface BackupAnswer {
  readonly id: string;
  readonly status: 'running' | 'complete' | 'failed';
  readonly kind: string;
  readonly events: number | null;
  readonly size_bytes: number | null;
  readonly encrypted: boolean | null;
  readonly created_at: string;
  readonly verified_at: string | null;
  readonly problem: string | null;
  readonly progress: number | null;
}

export const backupCreate: Command = {
  name: 'backup create',
  arguments: '',
  summary: 'create a backup and wait until it is complete',
  details: 'Prints the ID of the backup. Ctrl-C stops waiting; the backup continues.',
  examples: [['backup create', 'back up the running services']],
  run: async ({ options, terminal, session, signal }) => {
    const { api } = await session();
    let { body: backup } = await api.call<BackupAnswer>('POST', '/backups', { idempotent: true });
    while (backup.status === 'running') {
      terminal.progress('backup', Math.min(0.99, backup.progress ?? 0));
      await pause(pollEveryMs, undefined, { signal });
      backup = await backupOf(api, backup.id);
    }
    terminal.progress('backup', 1);
    if (backup.status === 'failed') {
      throw new CommandProblem(
        exitCodes.failed,
        `The backup ${backup.id} failed: ${backup.problem ?? 'see the log of the scheduler'}`,
      );
    }
    terminal.line(options.json ? JSON.stringify(backup) : backup.id);
    return exitCodes.done;
  },
};

async function backupOf(api: Api, id: string): Promise<BackupAnswer> {
  return (await api.call<BackupAnswer>('GET', `/backups/${part(id)}`)).body;
}

export const backupList: Command = {
  name: 'backup list',
  arguments: '',
  summary: `list the newest ${shown} backups`,
  examples: [['backup list', 'newest first']],
  run: async ({ options, terminal, session }) => {
    const { api } = await session();
    const found = await listOf<BackupAnswer>(api, '/backups', {}, shown);
    if (options.json) terminal.line(JSON.stringify(found));
    printTable(
      options.json ? [] : found,
      [
        { title: 'id', text: (row) => row.id },
        { title: 'status', text: (row) => row.status },
        { title: 'kind', text: (row) => row.kind },
        { title: 'created', text: (row) => row.created_at },
        { title: 'events', text: ({ events }) => String(events ?? '') },
        { title: 'size', text: ({ size_bytes: bytes }) => sizeText(bytes) },
        { title: 'verified', text: (row) => row.verified_at ?? '' },
      ],
      terminal,
    );
    return exitCodes.done;
  },
};

function sizeText(bytes: number | null): string {
  return bytes === null ? '' : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

export const backupDownload: Command = {
  name: 'backup download',
  arguments: 'BACKUP [FILE]',
  summary: 'download a backup to a local file',
  examples: [
    ['backup download 019aa3f4-01aa-7c11-8d22-5e6f70819203', 'with the default file name'],
    ['backup download 019aa3f4-01aa-7c11-8d22-5e6f70819203 /mnt/usb/monday.tar', 'elsewhere'],
  ],
  run: async (use) => {
    const { args, folder } = use;
    const [id, file] = args.length === 2 ? args : expectArgs(use, 1, 'BACKUP');
    if (id === undefined) throw usageProblem('Expected BACKUP.');
    const { api } = await use.session();
    const path = `/backups/${part(id)}/download`;
    const answer = await api.raw('GET', path, { deadlineMs: downloadMs });
    const target = resolve(folder, file ?? nameOf(answer, id));
    if (await isThere(target)) {
      answer.destroy();
      throw new CommandProblem(exitCodes.refused, `${target} already exists; nothing was written.`);
    }
    await writeFileOf(answer, target, use);
    return exitCodes.done;
  },
};

/** The file name from the server, without a folder. */
function nameOf({ headers }: IncomingMessage, id: string): string {
  const given = /filename="([^"]+)"/.exec(headers['content-disposition'] ?? '')?.[1];
  return basename(given ?? `backup-${id}.tar`);
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
