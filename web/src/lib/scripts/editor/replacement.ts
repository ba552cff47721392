import { Text, type EditorState, type TransactionSpec } from '@codemirror/state';

/** Returns a transaction that changes the document to the given text as one undoable step. Only the differences are
 *  replaced, so the cursor stays on its line.
 *  @param text with LF line endings, regardless of the document's line endings */
export function replacement(state: EditorState, text: string): TransactionSpec {
  const before = state.doc.sliceString(0);
  const start = sharedStart(before, text);
  const end = sharedEnd(before.slice(start), text.slice(start));
  const next = Text.of(text.split('\n'));
  const cursor = state.selection.main.head;
  const { number, from } = state.doc.lineAt(cursor);
  const line = next.line(Math.min(number, next.lines));
  return {
    changes: {
      from: start,
      to: before.length - end,
      insert: next.slice(start, text.length - end),
    },
    selection: { anchor: Math.min(line.from + (cursor - from), line.to) },
    userEvent: 'format',
  };
}

function sharedStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let count = 0;
  while (count < most && one[count] === other[count]) count += 1;
  return count;
}

function sharedEnd(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let count = 0;
  while (count < most && one.at(-1 - count) === other.at(-1 - count)) count += 1;
  return count;
}
