import type { Diagnostic } from '@codemirror/lint';
import { Compartment, type EditorState, type Extension } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import type { FileContent } from './api.ts';
import { maxCharacters, type Draft, type Drafts } from './drafts/drafts.ts';
import { editorState } from './editor-state.ts';
import { replacement } from './replacement.ts';
import { pythonLint } from './ruff/lint.ts';

/** A draft is stored after a typing pause of this length. */
const draftAfterMs = 400;

/** A version saved after the edited version; `content` is null if the file was deleted. */
export interface NewerVersion {
  content: FileContent | null;
  /** The name of the user who saved it. */
  by: string;
}

/** A file that is open in the editor, with its saved and edited content. */
export class OpenFile {
  readonly path: string;
  readonly readOnly: boolean;
  /** Whether the content is binary and therefore not editable. */
  readonly binary: boolean;
  dirty = $state(false);
  saving = $state(false);
  /** The problems that the linter has found. */
  problems = $state.raw<readonly Diagnostic[]>([]);
  /** The cursor position; line and column start at 1. */
  cursor = $state.raw({ line: 1, column: 1 });
  /** Incremented when the content was replaced from outside, so that the view displays the new content. */
  replaced = $state(0);
  /** When the restored draft was stored, or null if no draft was restored or the user has dismissed the notice. */
  restoredAtMs = $state<number | null>(null);
  /** Set when another user has saved the file while it has unsaved edits here. */
  newer = $state.raw<NewerVersion | null>(null);
  /** Whether the unsaved edits are stored as a draft and survive a reload. */
  drafted = true;
  /** The `ETag` of the saved content, or null if the server sent none. */
  etag: string | null;
  state: EditorState;
  /** The view that shows the file, or null while the file is hidden. */
  view: EditorView | null = null;
  readonly #drafts: Drafts | null;
  /** Holds the language server's extension in the editor configuration. */
  readonly #language = new Compartment();
  #languageTools: Extension = [];
  #saved: EditorState['doc'];
  #draftTimer: ReturnType<typeof setTimeout> | undefined;

  /** @param drafts stores unsaved edits; null disables drafts */
  constructor(path: string, content: FileContent, readOnly: boolean, drafts: Drafts | null) {
    this.path = path;
    this.binary = content.text === null;
    this.readOnly = readOnly || this.binary;
    this.#drafts = this.readOnly ? null : drafts;
    const draft = this.#draftFor(content);
    this.etag = draft?.etag ?? content.etag;
    this.state = this.#stateOf(
      draft ? withEndings(draft.base, content.text) : (content.text ?? ''),
    );
    this.#saved = this.state.doc;
    if (!draft) return;
    this.state = this.state.update(replacement(this.state, draft.text)).state;
    this.dirty = true;
    this.restoredAtMs = draft.savedAtMs;
    if (!this.isSavedText(content.text ?? '')) this.newer = { content, by: 'Another user' };
  }

  /** Returns the stored draft if it differs from the saved content. */
  #draftFor({ text }: FileContent): Draft | null {
    const draft = this.#drafts?.read(this.path) ?? null;
    if (!draft) return null;
    const isSaved = text !== null && draft.text === text.replaceAll('\r\n', '\n');
    if (!isSaved && draft.text !== draft.base) return draft;
    this.#drafts?.remove(this.path);
    return null;
  }

  /** Whether the formatter supports the file. */
  get formats(): boolean {
    return !this.readOnly && this.path.endsWith('.py');
  }

  /** The edited text, with the file's line endings. */
  get text(): string {
    return this.state.sliceDoc();
  }

  /** The saved text on which the edits are based, with LF line endings. */
  get base(): string {
    return this.#saved.sliceString(0);
  }

  /** Whether `text` equals the last known saved content. */
  isSavedText(text: string): boolean {
    return this.#saved.eq(this.#stateOf(text).doc);
  }

  /** Marks `doc` as saved. Later edits remain unsaved. */
  markSaved(doc: EditorState['doc'], etag: string | null): void {
    this.#saved = doc;
    this.etag = etag;
    this.newer = null;
    this.#changed();
    this.flushDraft();
  }

  /** Replaces the edits with the content that another user has saved. */
  replace(content: FileContent): void {
    this.state = this.#stateOf(content.text ?? '');
    this.markSaved(this.state.doc, content.etag);
    this.replaced += 1;
  }

  /** Changes the text like typed input, so that the change can be undone. @param text with LF line endings */
  rewrite(text: string): void {
    this.view?.dispatch(replacement(this.state, text));
  }

  /** Connects the file to the language server. */
  useLanguage(tools: Extension): void {
    this.#languageTools = tools;
    const effects = this.#language.reconfigure(tools);
    if (this.view) this.view.dispatch({ effects });
    else this.state = this.state.update({ effects }).state;
  }

  /** Moves the cursor to an offset and scrolls it into view. @param offset in UTF-16 code units */
  goTo(offset: number): void {
    const anchor = Math.min(offset, this.state.doc.length);
    this.view?.dispatch({ selection: { anchor }, scrollIntoView: true });
    this.view?.focus();
  }

  /** Moves the edits to a newer saved version. @param text the merged text, with LF line endings */
  rebase(content: FileContent, text: string): void {
    this.replace(content);
    this.state = this.state.update(replacement(this.state, text)).state;
    this.#changed();
  }

  /** Stores the draft without waiting for a typing pause. */
  flushDraft(): void {
    clearTimeout(this.#draftTimer);
    if (!this.#drafts) return;
    if (!this.dirty) {
      this.#drafts.remove(this.path);
      return;
    }
    // Text above this length is never stored as a draft, so it is not copied.
    const text = this.state.doc.length > maxCharacters ? null : this.state.doc.sliceString(0);
    if (text === null) {
      this.drafted = false;
      return this.#drafts.remove(this.path);
    }
    const draft = { text, base: this.base, etag: this.etag, savedAtMs: Date.now() };
    this.drafted = this.#drafts.write(this.path, draft);
  }

  /** Discards the draft when the file is closed or deleted. */
  dropDraft(): void {
    clearTimeout(this.#draftTimer);
    this.#drafts?.remove(this.path);
  }

  #stateOf(text: string): EditorState {
    const { path, readOnly } = this;
    const onChange = (state: EditorState) => {
      this.state = state;
      this.cursor = cursorOf(state);
      this.#changed();
    };
    const lint = path.endsWith('.py') ? pythonLint((found) => (this.problems = found)) : [];
    const tools = [lint, this.#language.of(this.#languageTools)];
    return editorState({ path, text, readOnly, tools, onChange });
  }

  #changed(): void {
    this.dirty = !this.state.doc.eq(this.#saved);
    if (!this.dirty) this.restoredAtMs = null;
    clearTimeout(this.#draftTimer);
    this.#draftTimer = setTimeout(() => this.flushDraft(), draftAfterMs);
  }
}

function cursorOf({ doc, selection: { main } }: EditorState): { line: number; column: number } {
  const { number, from } = doc.lineAt(main.head);
  return { line: number, column: main.head - from + 1 };
}

/** Converts text with LF line endings to the line endings of `like`. */
function withEndings(text: string, like: string | null): string {
  return like?.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
}
