import type { EditorState } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import type { FileContent } from './api.ts';
import { editorState } from './editor-state.ts';
import { replacement } from './replacement.ts';

/** A file in the editor: what is saved, what is edited, and whether they differ. */
export class OpenFile {
  readonly path: string;
  readonly readOnly: boolean;
  /** True when the content is no text and cannot be edited here. */
  readonly binary: boolean;
  dirty = $state(false);
  saving = $state(false);
  /** Grows when the content was replaced from outside, so that the view shows it. */
  replaced = $state(0);
  /** `ETag` of the content that is saved; null when the server gave none. */
  etag: string | null;
  state: EditorState;
  /** Where it is on the screen; null while another file is. */
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

  /** Whether its layout can be made anew. */
  get formats(): boolean {
    return !this.readOnly && this.path.endsWith('.py');
  }

  /** The edited text, with the file's own line ends. */
  get text(): string {
    return this.state.sliceDoc();
  }

  /** Whether `text` is what this editor last knew to be saved. */
  isSavedText(text: string): boolean {
    return this.#saved.eq(this.#stateOf(text).doc);
  }

  /** Notes that `doc` is saved; what was typed while it was on its way stays unsaved. */
  markSaved(doc: EditorState['doc'], etag: string | null): void {
    this.#saved = doc;
    this.etag = etag;
    this.dirty = !this.state.doc.eq(doc);
  }

  /** Throws the edits away for what somebody else saved. */
  replace(content: FileContent): void {
    this.state = this.#stateOf(content.text ?? '');
    this.markSaved(this.state.doc, content.etag);
    this.replaced += 1;
  }

  /** Changes the text as if it had been typed, so that undo brings it back.
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
