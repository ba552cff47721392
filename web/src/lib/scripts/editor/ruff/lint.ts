import {
  forEachDiagnostic,
  lintGutter,
  linter,
  nextDiagnostic,
  setDiagnosticsEffect,
  type Diagnostic,
} from '@codemirror/lint';
import type { Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { diagnosticsOf } from './diagnostics.ts';

/** Longer files are not checked. Such files are rarely written by hand, and each check would take seconds. */
const maxCharacters = 1_000_000;

/** Marks the violations that Ruff finds. F8 moves to the next violation.
 *  @param onFound receives the violations in document order */
export function pythonLint(onFound: (found: readonly Diagnostic[]) => void): Extension {
  return [
    linter(
      async ({ state: { doc } }) => {
        if (doc.length > maxCharacters) return [];
        const { checkPython } = await import('./ruff.ts');
        // If Ruff cannot be loaded, the editor works without it.
        const violations = await checkPython(doc.sliceString(0)).catch(() => []);
        return diagnosticsOf(doc, violations);
      },
      { delay: 400 },
    ),
    EditorView.updateListener.of(({ state, transactions }) => {
      const effects = transactions.flatMap((transaction) => transaction.effects);
      if (!effects.some((effect) => effect.is(setDiagnosticsEffect))) return;
      const found: Diagnostic[] = [];
      forEachDiagnostic(state, (diagnostic, from, to) => found.push({ ...diagnostic, from, to }));
      onFound(found);
    }),
    lintGutter(),
    keymap.of([{ key: 'F8', run: nextDiagnostic }]),
  ];
}
