import { SvelteMap } from 'svelte/reactivity';
import { ApiError } from '../api/api-error.ts';
import { readFile, writeFile, type FileContent } from '../api/files.ts';
import { listFiles } from '../api/scripts.ts';
import type { FileEntry } from '../api/types.ts';
import { queryClient } from '../query-client.ts';
import { OpenFile } from './open-file.svelte.ts';

/** Somebody else saved the file meanwhile; `theirs` is null when they deleted it. */
export interface Conflict {
  file: OpenFile;
  theirs: FileContent | null;
}

/** The files of one script as they are edited. */
export class Project {
  readonly scriptId: string;
  readonly readOnly: boolean;
  files = $state.raw<FileEntry[]>([]);
  loaded = $state(false);
  failure = $state.raw<unknown>(null);
  active = $state.raw<OpenFile | null>(null);
  conflict = $state.raw<Conflict | null>(null);
  readonly #open = new SvelteMap<string, OpenFile>();

  constructor(scriptId: string, readOnly: boolean) {
    this.scriptId = scriptId;
    this.readOnly = readOnly;
  }

  get dirtyFiles(): OpenFile[] {
    return [...this.#open.values()].filter((file) => file.dirty);
  }

  isDirty(path: string): boolean {
    return this.#open.get(path)?.dirty ?? false;
  }

  /** Lists the files and shows the start file, or the first one. */
  async load(entrypoint: string): Promise<void> {
    if (this.loaded) return;
    try {
      this.files = await listFiles(this.scriptId);
      const paths = this.files.map((file) => file.path);
      const first = paths.includes(entrypoint) ? entrypoint : paths[0];
      if (first !== undefined) await this.show(first);
      this.failure = null;
    } catch (error) {
      this.failure = error;
    }
    this.loaded = true;
  }

  /** Tries again what failed. */
  async reload(entrypoint: string): Promise<void> {
    this.loaded = false;
    await this.load(entrypoint);
  }

  /** Opens a file, or goes back to it with its edits. */
  async show(path: string): Promise<void> {
    let file = this.#open.get(path);
    if (!file) {
      const content = await readFile(this.scriptId, path);
      // A second click may have opened it meanwhile.
      file = this.#open.get(path) ?? new OpenFile(path, content, this.readOnly);
      this.#open.set(path, file);
    }
    this.active = file;
  }

  /** Makes an empty file and shows it. */
  async create(path: string): Promise<void> {
    await writeFile(this.scriptId, path, '', null);
    this.files = await listFiles(this.scriptId);
    this.#changed();
    await this.show(path);
  }

  /** Saves every changed file.
   *  @returns false when a conflict waits for an answer
   *  @throws ApiError when the server refuses, such as for the quota */
  async saveAll(): Promise<boolean> {
    for (const file of this.dirtyFiles) {
      await this.#save(file);
      if (this.conflict) return false;
    }
    return true;
  }

  /** Answers a conflict: their text replaces the edits. */
  takeTheirs(): void {
    if (this.conflict?.theirs) this.conflict.file.replace(this.conflict.theirs);
    this.conflict = null;
  }

  /** Answers a conflict: the edits replace their text, unless it has changed once more. */
  async overwrite(): Promise<void> {
    const conflict = this.conflict;
    if (!conflict) return;
    this.conflict = null;
    conflict.file.etag = conflict.theirs?.etag ?? null;
    await this.#save(conflict.file);
  }

  async #save(file: OpenFile): Promise<void> {
    file.saving = true;
    try {
      await this.#write(file).catch((error: unknown) => this.#onRefused(file, error));
      this.#changed();
    } finally {
      file.saving = false;
    }
  }

  async #write(file: OpenFile): Promise<void> {
    const { doc } = file.state;
    file.markSaved(doc, await writeFile(this.scriptId, file.path, file.text, file.etag));
  }

  /** A 412 over content that nobody changed (only its version) is no conflict: it is sent again. */
  async #onRefused(file: OpenFile, error: unknown): Promise<void> {
    if (!(error instanceof ApiError) || error.status !== 412) throw error;
    const theirs = await readFile(this.scriptId, file.path).catch((reason: unknown) => {
      if (reason instanceof ApiError && reason.status === 404) return null;
      throw reason;
    });
    if (theirs?.text == null || !file.isSavedText(theirs.text)) {
      this.conflict = { file, theirs };
      return;
    }
    file.etag = theirs.etag;
    await this.#write(file);
  }

  #changed(): void {
    void queryClient.invalidateQueries({ queryKey: ['script', this.scriptId] });
  }
}
