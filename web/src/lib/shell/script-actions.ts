/** The script actions in the command palette. */
import { goto } from '$app/navigation';
import { queryClient } from '#lib/api/query-client.ts';
import type { Script } from '#lib/api/types.ts';
import { startRun, stopScript } from '#lib/runs/api.ts';
import { setEnabled } from '#lib/scripts/api.ts';
import { toastDone, toastError } from '#lib/ui/toasts.ts';
import type { Verb } from './palette-verbs.ts';
import { counted } from '#lib/ui/format.ts';

interface ScriptAction {
  word: string;
  right: string;
  /** Whether the action would have an effect. */
  fits: (script: Script) => boolean;
  /** @returns a description of the result */
  run: (script: Script) => Promise<string>;
}

export const scriptActions: Record<Verb, ScriptAction> = {
  run: {
    word: 'Run',
    right: 'runs.start',
    fits: ({ enabled }) => enabled,
    run: async ({ id, name }) => {
      const run = await startRun(id);
      await goto(`/runs/${run.run_id}`);
      return `Queued “${name}”`;
    },
  },
  stop: {
    word: 'Stop',
    right: 'runs.stop',
    fits: () => true,
    run: async ({ id, name }) => {
      const count = await stopScript(id);
      return `Stopping ${counted(count, 'run')} of “${name}”`;
    },
  },
  enable: {
    word: 'Enable',
    right: 'scripts.enable',
    fits: ({ enabled }) => !enabled,
    run: async ({ id, name }) => {
      await setEnabled(id, true);
      return `Enabled “${name}”`;
    },
  },
  disable: {
    word: 'Disable',
    right: 'scripts.disable',
    fits: ({ enabled }) => enabled,
    run: async ({ id, name }) => {
      await setEnabled(id, false);
      return `Disabled “${name}”`;
    },
  },
};

/** Performs the action and shows the outcome in a message. */
export async function act(verb: Verb, script: Script): Promise<void> {
  const action = scriptActions[verb];
  try {
    toastDone(await action.run(script));
    void queryClient.invalidateQueries({ queryKey: ['scripts'] });
    void queryClient.invalidateQueries({ queryKey: ['script', script.id] });
  } catch (error) {
    toastError(`Could not ${action.word.toLowerCase()} “${script.name}”`, error);
  }
}
