import type { EditorState } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import type { FileContent } from './api.ts';
import { editorState } from './editor-state.ts';
import { replacement } from './replacement.ts';

/** A file in the editor, with its saved and edited content. */
export class OpenFile {
  readonly path: string;
  readonly readOnly: boolean;
  /** True if the content is binary and cannot be edited here. */
  readonly binary: boolean;
  dirty = $state(false);
  saving = $state(false);
  /** Increases when the content was replaced from outside, so that the view shows it. */
  replaced = $state(0);
  /** `ETag` of the saved content; null if the server sent none. */
  etag: string | null;
  state: EditorState;
  /** The view that shows the file; null while another file is shown. */
  view: EditorView | null = null;
  #saved: EditorState['doc'];

  constructor(path: string, content: FileContent, readOnly: boolean) {
    this.path = path;
    this.binary = content.text === null;
    this.readOnly = readOnly || this.binary;
    this.etag = content.etag;
    this.state = this.#stateOf(content.text ?? '');
    this.#saved = this.state.doc;
  }

  /** Whether it can be formatted. */
  get formats(): boolean {
    return !this.readOnly && this.path.endsWith('.py');
  }

  /** The edited text, with the line endings of the file. */
  get text(): string {
    return this.state.sliceDoc();
  }

  /** Whether `text` is the last known saved content. */
  isSavedText(text: string): boolean {
    return this.#saved.eq(this.#stateOf(text).doc);
  }

  /** Records that `doc` is saved. Later edits remain unsaved. */
  markSaved(doc: EditorState['doc'], etag: string | null): void {
    this.#saved = doc;
    this.etag = etag;
    this.dirty = !this.state.doc.eq(doc);
  }

  /** Replaces the edits by the content that another user has saved. */
  replace(content: FileContent): void {
    this.state = this.#stateOf(content.text ?? '');
    this.markSaved(this.state.doc, content.etag);
    this.replaced += 1;
  }

  /** Changes the text as if it had been typed, so that it can be undone.
   *  @param text with line feeds */
  rewrite(text: string): void {
    this.view?.dispatch(replacement(this.state, text));
  }

  #stateOf(text: string): EditorState {
    const { path, readOnly } = this;
    const onChange = (state: EditorState) => {
      this.state = state;
      this.dirty = !state.doc.eq(this.#saved);
    };
    return editorState({ path, text, readOnly, onChange });
  }
}
