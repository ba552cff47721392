import { EditorState } from '@codemirror/state';
import { expect, test } from 'vitest';
import { replacement } from './replacement.ts';

function replaced(before: string, after: string, cursor = 0, crlf = false): EditorState {
  const state = EditorState.create({
    doc: before,
    selection: { anchor: cursor },
    extensions: crlf ? EditorState.lineSeparator.of('\r\n') : [],
  });
  return state.update(replacement(state, after)).state;
}

test.each([
  ['x=1\ny=2\n', 'x = 1\ny = 2\n'],
  ['aaa', 'aa'],
  ['aa', 'aaa'],
  ['', 'x = 1\n'],
  ['x = 1\n', ''],
])('the replacement changes %j to %j', (before, after) => {
  expect(replaced(before, after).doc.toString()).toBe(after);
});

test('the replacement changes only the differences', () => {
  const state = EditorState.create({ doc: 'a = 1\nb=2\nc = 3\n' });
  const { changes } = replacement(state, 'a = 1\nb = 2\nc = 3\n');
  expect(changes).toMatchObject({ from: 7, to: 8 });
});

test('the replacement keeps the cursor on its line', () => {
  const before = 'x=1\nfoo( a,b )\n';
  const { selection, doc } = replaced(before, 'x = 1\nfoo(a, b)\n', before.length - 1);
  expect(doc.lineAt(selection.main.head).number).toBe(2);
});

test('the replacement keeps the line endings of the file', () => {
  expect(replaced('x=1\r\ny=2\r\n', 'x = 1\ny = 2\n', 0, true).sliceDoc()).toBe(
    'x = 1\r\ny = 2\r\n',
  );
});
