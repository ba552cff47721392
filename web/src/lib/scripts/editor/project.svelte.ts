import type { EditorView } from '@codemirror/view';
import { tick } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import { ApiError } from '#lib/api/api-error.ts';
import { queryClient } from '#lib/api/query-client.ts';
import type { FileEntry } from '#lib/api/types.ts';
import { listFiles } from '../api.ts';
import { toastDone } from '#lib/ui/toasts.ts';
import { deleteFile, moveFile, readFile, writeFile, type FileContent } from './api.ts';
import type { Drafts } from './drafts/drafts.ts';
import { isRequested } from './is-requested.ts';
import { ProjectLanguage } from './language/project-language.ts';
import type { OpenFile } from './open-file.svelte.ts';
import type { SourceFile } from './search/find-in-files.ts';

const maxSearchedBytes = 1024 * 1024;

/** Another user has saved or deleted the file since it was opened; `theirs` is null if the file was deleted. */
export interface Conflict {
  file: OpenFile;
  theirs: FileContent | null;
}

/** The files of a script in the editor. */
export class Project {
  readonly scriptId: string;
  readonly readOnly: boolean;
  files = $state.raw<FileEntry[]>([]);
  loaded = $state(false);
  failure = $state.raw<unknown>(null);
  active = $state.raw<OpenFile | null>(null);
  conflict = $state.raw<Conflict | null>(null);
  readonly #open = new SvelteMap<string, OpenFile>();
  readonly #drafts: Drafts | null;
  /** Provides completion, documentation and definitions. */
  readonly language = new ProjectLanguage(this);
  /** The script version with which the open files were last compared. */
  #compared: number | null = null;

  /** @param drafts stores unsaved edits, or null if the browser has no storage */
  constructor(scriptId: string, readOnly: boolean, drafts: Drafts | null) {
    this.scriptId = scriptId;
    this.readOnly = readOnly;
    this.#drafts = readOnly ? null : drafts;
  }

  /** The open files, in the order in which they were opened. */
  get openFiles(): OpenFile[] {
    return [...this.#open.values()];
  }

  get dirtyFiles(): OpenFile[] {
    return this.openFiles.filter((file) => file.dirty);
  }

  isDirty(path: string): boolean {
    return this.#open.get(path)?.dirty ?? false;
  }

  /** Lists the files, opens those with drafts, and shows the entry point or, if it does not exist, the first file. */
  async load(entrypoint: string): Promise<void> {
    if (this.loaded) return;
    try {
      this.files = await listFiles(this.scriptId);
      const paths = this.files.map((file) => file.path);
      const first = paths.includes(entrypoint) ? entrypoint : paths[0];
      for (const path of this.#drafts?.paths(Date.now()) ?? []) await this.#opened(path);
      if (first !== undefined) await this.show(first);
      this.failure = null;
    } catch (error) {
      this.failure = error;
    }
    this.loaded = true;
  }

  /** Loads the files again after a failure. */
  async reload(entrypoint: string): Promise<void> {
    this.loaded = false;
    await this.load(entrypoint);
  }

  /** Reloads all open files after a change to the whole script. Unsaved edits are discarded. */
  async reopen(entrypoint: string): Promise<void> {
    this.dropDrafts();
    this.#open.clear();
    this.active = null;
    await this.reload(entrypoint);
    this.#changed();
  }

  /** Opens a file, or shows it with its unsaved edits if it is already open. */
  async show(path: string): Promise<void> {
    this.active = await this.#opened(path);
  }

  async #opened(path: string): Promise<OpenFile> {
    const present = this.#open.get(path);
    if (present) return present;
    // Loads the editor on demand, because it is large and only the code page needs it.
    const [content, { OpenFile }] = await Promise.all([
      this.#read(path),
      import('./open-file.svelte.ts'),
    ]);
    const draft = content ? null : this.#drafts?.read(path);
    if (!content && !draft) throw new Error(`The file “${path}” no longer exists.`);
    // The file may already be open, for example after a double click.
    const file =
      this.#open.get(path) ??
      new OpenFile(
        path,
        content ?? { text: draft?.base ?? '', etag: draft?.etag ?? null },
        this.readOnly,
        this.#drafts,
      );
    this.language.connect(file);
    if (!content) file.newer = { content: null, by: 'Another user' };
    this.#open.set(path, file);
    return file;
  }

  /** Shows a file with the cursor at `offset`. */
  async showAt(path: string, offset: number): Promise<void> {
    await this.display(path);
    this.active?.goTo(offset);
  }

  /** Returns all text files with their unsaved edits, for the search. Large files are omitted. */
  async sources(): Promise<SourceFile[]> {
    const small = this.files.filter(({ size_bytes: size }) => size < maxSearchedBytes);
    const found = await Promise.all(
      small.map(async ({ path }) => {
        const open = this.#open.get(path);
        if (open) return open.binary ? null : { path, text: open.state.doc.sliceString(0) };
        const text = (await this.#read(path))?.text ?? null;
        return text === null ? null : { path, text: text.replaceAll('\r\n', '\n') };
      }),
    );
    return found.filter((file) => file !== null);
  }

  /** Shows a file. @returns its editor */
  async display(path: string): Promise<EditorView | null> {
    await this.show(path);
    // The view exists only after the next render.
    await tick();
    return this.active?.view ?? null;
  }

  /** Closes a file, discards its unsaved edits, and shows a neighboring file. */
  close(file: OpenFile): void {
    const open = this.openFiles;
    const at = open.indexOf(file);
    file.dropDraft();
    this.#open.delete(file.path);
    if (this.active === file) this.active = open[at + 1] ?? open[at - 1] ?? null;
  }

  /** Creates a file and shows it. */
  async create(path: string, content: string | Blob = ''): Promise<void> {
    if (await isRequested(writeFile(this.scriptId, path, content, null))) return;
    await this.#filesChanged();
    await this.show(path);
  }

  /** Moves a file, which must have no unsaved edits.
   *  @throws ApiError 409 if the target path exists, 412 if another user has changed the file */
  async move(path: string, to: string): Promise<void> {
    const moved = moveFile(this.scriptId, path, to, this.#open.get(path)?.etag ?? null);
    if (await isRequested(moved)) return;
    await this.#leave(path);
    await this.show(to);
  }

  /** @returns false if the deletion waits for approval
   *  @throws ApiError 409 if the file is the script's only file, 412 if another user has changed the file */
  async remove(path: string): Promise<boolean> {
    const removed = deleteFile(this.scriptId, path, this.#open.get(path)?.etag ?? null);
    if (await isRequested(removed)) return false;
    await this.#leave(path);
    const [first] = this.files;
    if (!this.active && first) await this.show(first.path);
    return true;
  }

  /** Saves all files with unsaved edits.
   *  @returns false if the user must resolve a conflict
   *  @throws ApiError if the server refuses a file, for example because a quota is exceeded */
  async saveAll(): Promise<boolean> {
    for (const file of this.dirtyFiles) {
      await this.#save(file);
      if (this.conflict) return false;
    }
    return true;
  }

  /** Resolves a conflict by discarding the edits and showing the saved content. */
  takeTheirs(): void {
    if (this.conflict?.theirs) this.conflict.file.replace(this.conflict.theirs);
    this.conflict = null;
  }

  /** Resolves a conflict by overwriting the saved content with the edits, unless the file has changed again. */
  async overwrite(): Promise<void> {
    const conflict = this.conflict;
    if (!conflict) return;
    this.conflict = null;
    conflict.file.etag = conflict.theirs?.etag ?? null;
    await this.#save(conflict.file);
  }

  /** Resolves a conflict by saving the merged text, unless the file has changed again.
   *  @param text with LF line endings */
  async saveMerged(text: string): Promise<void> {
    const conflict = this.conflict;
    if (!conflict?.theirs) return;
    this.conflict = null;
    conflict.file.rebase(conflict.theirs, text);
    await this.#save(conflict.file);
  }

  /** Stores all drafts before the user leaves the page. */
  flushDrafts(): void {
    for (const file of this.openFiles) file.flushDraft();
  }

  /** Discards the unsaved edits of all files. */
  dropDrafts(): void {
    for (const file of this.openFiles) file.dropDraft();
  }

  /** Discards a file's unsaved edits and shows its saved content. */
  async discard(file: OpenFile): Promise<void> {
    const content = await this.#read(file.path);
    if (content) file.replace(content);
    else this.close(file);
  }

  /** Compares the open files with a new version of the script. Files without unsaved edits show the new content. Files
   *  with unsaved edits show a notice.
   *  @param by the user who saved the version */
  async compareWith(version: number, by: string): Promise<void> {
    const isNew = this.#compared !== null && this.#compared < version;
    this.#compared = Math.max(version, this.#compared ?? 0);
    if (!isNew || !this.loaded) return;
    const known = new Map(this.files.map(({ path, sha256 }) => [path, sha256]));
    this.files = await listFiles(this.scriptId);
    const current = new Map(this.files.map(({ path, sha256 }) => [path, sha256]));
    for (const file of this.openFiles) {
      if (current.get(file.path) !== known.get(file.path)) await this.#compareFile(file, by);
    }
  }

  async #compareFile(file: OpenFile, by: string): Promise<void> {
    const content = await this.#read(file.path);
    if (file.saving || (content?.text != null && file.isSavedText(content.text))) return;
    if (file.dirty || !content) file.newer = { content, by };
    else {
      file.replace(content);
      toastDone(`${file.path} was updated by ${by}`);
    }
  }

  /** Returns the saved content, or null if the file does not exist. */
  async #read(path: string): Promise<FileContent | null> {
    return await readFile(this.scriptId, path).catch((reason: unknown) => {
      if (reason instanceof ApiError && reason.status === 404) return null;
      throw reason;
    });
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
    let { etag } = file;
    // If the change requires approval, the editor keeps the edited text. The file on the server stays unchanged until
    // the change is approved.
    const written = writeFile(this.scriptId, file.path, file.text, etag).then(
      (next) => (etag = next),
    );
    await isRequested(written);
    file.markSaved(doc, etag);
  }

  /** Retries the save after a 412 if only the script's version has changed, but not the file's content. */
  async #onRefused(file: OpenFile, error: unknown): Promise<void> {
    if (!(error instanceof ApiError) || error.status !== 412) throw error;
    const theirs = await this.#read(file.path);
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
