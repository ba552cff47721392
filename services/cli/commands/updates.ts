/** Commands that show updates and roll them back (docs/updates.md). */
import type { Command } from '../command.ts';
import { exitCodes } from '../problem.ts';
import { printTable } from '../table.ts';

interface UpdateAnswer {
  readonly from: string;
  readonly to: string;
  readonly status: string;
  readonly started_by: string;
  readonly started_at: string;
  readonly reason: string | null;
}

interface UpdatesAnswer {
  readonly current: string;
  readonly previous: string | null;
  readonly rollback_copy: {
    readonly version: string;
    readonly made_at: string;
    readonly expires_at: string;
    readonly size_bytes: number;
    readonly lost_events: number;
  } | null;
}

export const updatesList: Command = {
  name: 'updates list',
  arguments: '',
  summary: 'list past updates, and what a rollback would do',
  examples: [['updates list', 'newest first']],
  run: async ({ options, terminal, session }) => {
    const { api } = await session();
    const { body: updates } = await api.call<UpdatesAnswer>('GET', '/system/updates');
    const {
      body: { items: history },
    } = await api.call<{ items: readonly UpdateAnswer[] }>('GET', '/system/updates/history');
    if (options.json) {
      terminal.line(JSON.stringify({ ...updates, history }));
      return exitCodes.done;
    }
    const { current, previous, rollback_copy: copy } = updates;
    terminal.line(`Current version: ${current}`);
    if (previous !== null) terminal.line(`Rollback to ${previous}: ${lossOf(copy)}`);
    printTable(
      history,
      [
        { title: 'from', text: (row) => row.from },
        { title: 'to', text: (row) => row.to },
        { title: 'status', text: (row) => row.status },
        { title: 'started', text: (row) => row.started_at },
        { title: 'by', text: (row) => row.started_by },
        { title: 'reason', text: (row) => row.reason ?? '' },
      ],
      terminal,
    );
    return exitCodes.done;
  },
};

function lossOf(copy: UpdatesAnswer['rollback_copy']): string {
  if (copy === null) return 'keeps all events';
  const size = `${(copy.size_bytes / 1024 / 1024).toFixed(1)} MiB`;
  return `discards ${copy.lost_events} events since ${copy.made_at}; its copy (${size}) expires ${copy.expires_at}`;
}

export const updatesRollback: Command = {
  name: 'updates rollback',
  arguments: '',
  summary: 'roll back to the version before the last update',
  details:
    'Without --discard-events, the rollback is rejected if events would be lost, and the message says ' +
    'how many.',
  options: { 'discard-events': { help: 'confirm that the events since the update will be lost' } },
  examples: [
    ['updates rollback', 'if no events are lost'],
    ['updates rollback --discard-events', 'restore the database from before the update'],
  ],
  run: async ({ options, terminal, session }) => {
    const { api } = await session();
    const body = { discard_events: options.has('discard-events') };
    const { body: update } = await api.call<UpdateAnswer>('POST', '/system/updates/rollback', {
      body,
    });
    terminal.line(
      options.json ? JSON.stringify(update) : `Rolling back from ${update.from} to ${update.to}.`,
    );
    return exitCodes.done;
  },
};

export const updatesDiscard: Command = {
  name: 'updates discard',
  arguments: '',
  summary: 'delete the database copy for rolling back the last update',
  details:
    'Afterwards, the last update cannot be rolled back. The copy is deleted automatically after a day.',
  examples: [['updates discard', 'free its disk space']],
  run: async ({ options, terminal, session }) => {
    const { api } = await session();
    const { body } = await api.call<UpdatesAnswer>('POST', '/system/updates/rollback/discard');
    terminal.line(options.json ? JSON.stringify(body) : 'The copy was deleted.');
    return exitCodes.done;
  },
};
