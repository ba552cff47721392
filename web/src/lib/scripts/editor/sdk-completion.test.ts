import { CompletionContext } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { expect, test } from 'vitest';
import { completeSdk } from './sdk-completion.ts';

function offeredAt(doc: string): string[] {
  const context = new CompletionContext(EditorState.create({ doc }), doc.length, true);
  return (completeSdk(context)?.options ?? []).map(({ label }) => label);
}

test('the members of the platform object and of its attributes are suggested', () => {
  expect(offeredAt('x = platform.')).toContain('secrets');
  expect(offeredAt('platform.sec')).toContain('secrets');
  expect(offeredAt('platform.state.')).toEqual(['get', 'set', 'delete']);
});

test.each(['platform', 'other.', 'myplatform.', 'platform.nothing.'])(
  'nothing is suggested after “%s”',
  (doc) => expect(offeredAt(doc)).toEqual([]),
);
