import { SvelteMap } from 'svelte/reactivity';
import { ApiError } from '#lib/api/api-error.ts';
import { queryClient } from '#lib/api/query-client.ts';
import type { FileEntry } from '#lib/api/types.ts';
import { listFiles } from '../api.ts';
import { deleteFile, moveFile, readFile, writeFile, type FileContent } from './api.ts';
import { OpenFile } from './open-file.svelte.ts';

/** Another user has saved the file meanwhile; `theirs` is null if it was deleted. */
export interface Conflict {
  file: OpenFile;
  theirs: FileContent | null;
}

/** The files of one script in the editor. */
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

  /** In opening order. */
  get openFiles(): OpenFile[] {
    return [...this.#open.values()];
  }

  get dirtyFiles(): OpenFile[] {
    return this.openFiles.filter((file) => file.dirty);
  }

  isDirty(path: string): boolean {
    return this.#open.get(path)?.dirty ?? false;
  }

  /** Lists the files and shows the entrypoint, or the first file. */
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

  /** Retries a failed load. */
  async reload(entrypoint: string): Promise<void> {
    this.loaded = false;
    await this.load(entrypoint);
  }

  /** Replaces all open files with the saved ones, after a change of the whole script. */
  async reopen(entrypoint: string): Promise<void> {
    this.#open.clear();
    this.active = null;
    await this.reload(entrypoint);
    this.#changed();
  }

  /** Opens a file, or returns to it with its edits. */
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

  /** Closes a file, including unsaved edits, and shows its neighbour. */
  close(file: OpenFile): void {
    const open = this.openFiles;
    const at = open.indexOf(file);
    this.#open.delete(file.path);
    if (this.active === file) this.active = open[at + 1] ?? open[at - 1] ?? null;
  }

  /** Creates a file and shows it. */
  async create(path: string, content: string | Blob = ''): Promise<void> {
    await writeFile(this.scriptId, path, content, null);
    await this.#filesChanged();
    await this.show(path);
  }

  /** Moves a file. Its edits must be saved.
   *  @throws ApiError 409 if the path exists, 412 after conflicting changes */
  async move(path: string, to: string): Promise<void> {
    await moveFile(this.scriptId, path, to, this.#open.get(path)?.etag ?? null);
    await this.#leave(path);
    await this.show(to);
  }

  /** @throws ApiError 409 for the last file, 412 after conflicting changes */
  async remove(path: string): Promise<void> {
    await deleteFile(this.scriptId, path, this.#open.get(path)?.etag ?? null);
    await this.#leave(path);
    const [first] = this.files;
    if (!this.active && first) await this.show(first.path);
  }

  /** Saves all changed files.
   *  @returns false if a conflict must be resolved
   *  @throws ApiError if the server refuses, such as for the quota */
  async saveAll(): Promise<boolean> {
    for (const file of this.dirtyFiles) {
      await this.#save(file);
      if (this.conflict) return false;
    }
    return true;
  }

  /** Resolves a conflict: the saved content replaces the edits. */
  takeTheirs(): void {
    if (this.conflict?.theirs) this.conflict.file.replace(this.conflict.theirs);
    this.conflict = null;
  }

  /** Resolves a conflict: the edits replace the saved content, unless it has changed again. */
  async overwrite(): Promise<void> {
    const conflict = this.conflict;
    if (!conflict) return;
    this.conflict = null;
    conflict.file.etag = conflict.theirs?.etag ?? null;
    await this.#save(conflict.file);
  }

  async #leave(path: string): Promise<void> {
    const file = this.#open.get(path);
    if (file) this.close(file);
    await this.#filesChanged();
  }

  async #filesChanged(): Promise<void> {
    this.files = await listFiles(this.scriptId);
    this.#changed();
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

  /** A 412 with unchanged content (only the version changed) is not a conflict: the request is sent again. */
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
