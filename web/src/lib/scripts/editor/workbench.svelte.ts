import { createContext } from 'svelte';
import { startRun, type RunChoices } from '#lib/runs/api.ts';
import { refreshRunsOf } from '#lib/runs/refresh-runs.ts';
import { LiveRun } from '#lib/runs/stream/live-run.svelte.ts';
import { session } from '#lib/session/session.svelte.ts';
import { toastDone, toastError } from '#lib/ui/toasts.ts';
import { Drafts } from './drafts/drafts.ts';
import { Project } from './project.svelte.ts';

/** The state of a script's editor page, where the user edits, saves and runs the script and reads its log. */
export class Workbench {
  readonly project: Project;
  /** The run whose log is open next to the editor. */
  live = $state.raw<LiveRun | null>(null);
  starting = $state(false);
  formatting = $state(false);

  constructor(scriptId: string, readOnly: boolean) {
    this.project = new Project(scriptId, readOnly, draftsOf(scriptId));
  }

  /** Saves all changed files and shows the outcome in a message. */
  async save(): Promise<void> {
    const count = this.project.dirtyFiles.length;
    if (count > 0 && (await this.#saved()))
      toastDone(count === 1 ? 'Saved' : `${count} files saved`);
  }

  /** Formats the open file if it is a Python file. Code with a syntax error stays unchanged. */
  async format(): Promise<void> {
    const file = this.project.active;
    if (!file?.formats || this.formatting) return;
    this.formatting = true;
    try {
      const { doc } = file.state;
      const { formatPython } = await import('./ruff/ruff.ts');
      const text = await formatPython(doc.sliceString(0));
      // Keeps edits that the user made during formatting.
      if (file.state.doc.eq(doc)) file.rewrite(text);
      if (file.state.doc.eq(doc)) toastDone('Already formatted');
    } catch (error) {
      toastError(`Could not format ${file.path}`, error);
    } finally {
      this.formatting = false;
    }
  }

  /** Saves the files, starts a run and opens its log. A message reports any failure. */
  async run(): Promise<void> {
    if (this.starting) return;
    await this.start().catch((error: unknown) => toastError('The run was not started', error));
  }

  /** Saves the files, starts a run and opens its log. @throws ApiError if the server refuses the run */
  async start(params?: Record<string, unknown>, choices?: RunChoices): Promise<void> {
    this.starting = true;
    try {
      if (!(await this.#saved())) return;
      this.live = new LiveRun(await startRun(this.project.scriptId, params, choices));
      refreshRunsOf(this.project.scriptId);
    } finally {
      this.starting = false;
    }
  }

  /** Saves all files. @returns whether everything is saved; if not, a message shows the reason */
  async #saved(): Promise<boolean> {
    try {
      return await this.project.saveAll();
    } catch (error) {
      toastError('Could not save', error);
      return false;
    }
  }
}

/** Returns null if the browser denies access to its storage. */
function draftsOf(scriptId: string): Drafts | null {
  try {
    return session.user && new Drafts(localStorage, session.user.id, scriptId);
  } catch {
    return null;
  }
}

/** Shares one workbench between the pages of a script. */
export const [getWorkbench, setWorkbench] = createContext<() => Workbench>();
