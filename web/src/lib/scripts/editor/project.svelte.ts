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

/** Another user has saved the file in the meantime; `theirs` is null if it was deleted. */
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
  readonly #drafts: Drafts | null;
  /** Completion, documentation and definitions. */
  readonly language = new ProjectLanguage(this);
  /** The script version whose files were last compared. */
  #compared: number | null = null;

  /** @param drafts where unsaved edits are stored; null if the browser has no storage */
  constructor(scriptId: string, readOnly: boolean, drafts: Drafts | null) {
    this.scriptId = scriptId;
    this.readOnly = readOnly;
    this.#drafts = readOnly ? null : drafts;
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
      for (const path of this.#drafts?.paths(Date.now()) ?? []) await this.#opened(path);
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

  /** Replaces all open files with the saved ones, after a change to the whole script. */
  async reopen(entrypoint: string): Promise<void> {
    this.dropDrafts();
    this.#open.clear();
    this.active = null;
    await this.reload(entrypoint);
    this.#changed();
  }

  /** Opens a file, or returns to it with its edits. */
  async show(path: string): Promise<void> {
    this.active = await this.#opened(path);
  }

  async #opened(path: string): Promise<OpenFile> {
    const present = this.#open.get(path);
    if (present) return present;
    // The editor is large, and only the page with the code needs it.
    const [content, { OpenFile }] = await Promise.all([
      this.#read(path),
      import('./open-file.svelte.ts'),
    ]);
    const draft = content ? null : this.#drafts?.read(path);
    if (!content && !draft) throw new Error(`The file “${path}” no longer exists.`);
    // The file may have been opened in the meantime, for example by a second click.
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

  /** Shows a file with the cursor at an offset. */
  async showAt(path: string, offset: number): Promise<void> {
    await this.display(path);
    this.active?.goTo(offset);
  }

  /** All text files with their unsaved edits, for search. Large files are left out. */
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
    // The editor shows the file in the next frame.
    await tick();
    return this.active?.view ?? null;
  }

  /** Closes a file, including unsaved edits, and shows its neighbor. */
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

  /** Moves a file. Its edits must be saved.
   *  @throws ApiError 409 if the path exists, 412 after conflicting changes */
  async move(path: string, to: string): Promise<void> {
    const moved = moveFile(this.scriptId, path, to, this.#open.get(path)?.etag ?? null);
    if (await isRequested(moved)) return;
    await this.#leave(path);
    await this.show(to);
  }

  /** @returns false if the deletion waits for an approval
   *  @throws ApiError 409 for the last file, 412 after conflicting changes */
  async remove(path: string): Promise<boolean> {
    const removed = deleteFile(this.scriptId, path, this.#open.get(path)?.etag ?? null);
    if (await isRequested(removed)) return false;
    await this.#leave(path);
    const [first] = this.files;
    if (!this.active && first) await this.show(first.path);
    return true;
  }

  /** Saves all changed files.
   *  @returns false if a conflict must be resolved
   *  @throws ApiError if the server refuses a file, for example because a quota is exceeded */
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

  /** Resolves a conflict: saves the merged text, unless the file has changed again.
   *  @param text with line feeds */
  async saveMerged(text: string): Promise<void> {
    const conflict = this.conflict;
    if (!conflict?.theirs) return;
    this.conflict = null;
    conflict.file.rebase(conflict.theirs, text);
    await this.#save(conflict.file);
  }

  /** Stores the drafts now, before the page is left. */
  flushDrafts(): void {
    for (const file of this.openFiles) file.flushDraft();
  }

  /** Forgets all unsaved edits. */
  dropDrafts(): void {
    for (const file of this.openFiles) file.dropDraft();
  }

  /** Replaces the unsaved edits of a file with its saved content. */
  async discard(file: OpenFile): Promise<void> {
    const content = await this.#read(file.path);
    if (content) file.replace(content);
    else this.close(file);
  }

  /** Compares the open files with a new version of the script. An unchanged file shows the new content; a file with
   *  unsaved edits gets a notice.
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

  /** The saved content; null if the file does not exist. */
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
    // If the change requires an approval, the edited text stays in the editor, and the current file is unchanged until
    // the approval.
    const written = writeFile(this.scriptId, file.path, file.text, etag).then(
      (next) => (etag = next),
    );
    await isRequested(written);
    file.markSaved(doc, etag);
  }

  /** A 412 with unchanged content (only the version changed) is not a conflict: the request is sent again. */
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
