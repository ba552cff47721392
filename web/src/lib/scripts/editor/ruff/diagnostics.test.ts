import type { Diagnostic as Violation } from '@astral-sh/ruff-wasm-web';
import { EditorState, type TransactionSpec } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { expect, test } from 'vitest';
import { diagnosticsOf } from './diagnostics.ts';

const at = (row: number, column: number) => ({ row, column });
const violation = (change: Partial<Violation>): Violation => ({
  code: 'F401',
  message: '`os` imported but unused',
  tags: [],
  annotations: [],
  subDiagnostics: [],
  start_location: at(1, 8),
  end_location: at(1, 10),
  fix: null,
  ...change,
});

test('a violation is shown with its position, severity and rule', () => {
  const { doc } = EditorState.create({ doc: 'import os\nprint(größe)\n' });
  const found = diagnosticsOf(doc, [
    violation({ tags: ['unnecessary'] }),
    violation({ code: 'F821', start_location: at(2, 7), end_location: at(2, 12) }),
    violation({ code: 'invalid-syntax', start_location: at(3, 1), end_location: at(4, 1) }),
    violation({ code: 'B006' }),
  ]);
  expect(found.map(({ from, to, severity, source }) => [from, to, severity, source])).toEqual([
    [7, 9, 'info', 'Ruff F401'],
    [16, 21, 'error', 'Ruff F821'],
    [23, 23, 'error', 'Python'],
    [7, 9, 'warning', 'Ruff B006'],
  ]);
});

test('a quick fix changes the current document in one step', () => {
  const state = EditorState.create({ doc: 'import os\nprint(1)\n' });
  const [found] = diagnosticsOf(state.doc, [
    violation({
      fix: {
        message: 'Remove unused import: `os`',
        edits: [{ content: null, location: at(1, 1), end_location: at(2, 1) }],
      },
    }),
  ]);
  const [action] = found?.actions ?? [];
  expect(action?.name).toBe('Remove unused import: `os`');
  let changed = '';
  const dispatch = (spec: TransactionSpec) => {
    changed = state.update(spec).state.doc.toString();
  };
  action?.apply({ state, dispatch } as unknown as EditorView, 0, 0);
  expect(changed).toBe('print(1)\n');
});
