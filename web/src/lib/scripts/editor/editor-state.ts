import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { markdown } from '@codemirror/lang-markdown';
import { python, pythonLanguage } from '@codemirror/lang-python';
import { bracketMatching, indentOnInput, indentUnit } from '@codemirror/language';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { completeSdk } from './sdk-completion.ts';
import { editorTheme } from './theme.ts';

export interface EditorOptions {
  path: string;
  text: string;
  readOnly: boolean;
  /** Additional editor extensions, such as linting. */
  tools?: Extension;
  /** Called after each change with the new editor state. */
  onChange: (state: EditorState) => void;
}

/** Creates the editor state of a file. Each file has its own undo history and cursor. */
export function editorState({
  path,
  text,
  readOnly,
  tools = [],
  onChange,
}: EditorOptions): EditorState {
  return EditorState.create({
    doc: text,
    extensions: [
      // Preserves the file's line endings.
      text.includes('\r\n') ? EditorState.lineSeparator.of('\r\n') : [],
      EditorState.readOnly.of(readOnly),
      lineNumbers(),
      history(),
      drawSelection(),
      indentOnInput(),
      indentUnit.of(path.endsWith('.py') ? '    ' : '  '),
      bracketMatching(),
      closeBrackets(),
      autocompletion(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      search({ top: true }),
      highlightSelectionMatches(),
      language(path),
      tools,
      editorTheme,
      // Editable elements are focusable even without `tabindex`, but some accessibility checkers report them.
      EditorView.contentAttributes.of({ 'aria-label': `Code of ${path}`, tabindex: '0' }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged || update.selectionSet) onChange(update.state);
      }),
      keymap.of([
        ...closeBracketsKeymap,
        // The page handles Ctrl+Enter (run) and Ctrl+S (save).
        ...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter'),
        ...searchKeymap,
        ...historyKeymap,
        ...completionKeymap,
        // After Escape, Tab moves the focus out of the editor.
        indentWithTab,
      ]),
    ],
  });
}

function language(path: string): Extension {
  if (path.endsWith('.py')) {
    return [python(), pythonLanguage.data.of({ autocomplete: completeSdk })];
  }
  if (path.endsWith('.json')) return json();
  if (path.endsWith('.md')) return markdown();
  return [];
}
