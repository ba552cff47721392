/** Converts Ruff's violations to editor diagnostics. */
import type { Diagnostic as Violation } from '@astral-sh/ruff-wasm-web';
import type { Action, Diagnostic } from '@codemirror/lint';
import type { Text } from '@codemirror/state';

type Place = Violation['start_location'];

/** Syntax errors, and violations that make the code fail when it runs. */
const fatal = /^(invalid-syntax|E9|F63|F7|F82|PLE)/;

/** Returns the diagnostics for a document, each with a quick fix if Ruff offers one. */
export function diagnosticsOf(doc: Text, violations: readonly Violation[]): Diagnostic[] {
  return violations.map((violation) => {
    const { code, message, start_location: start, end_location: end, tags } = violation;
    const from = offset(doc, start);
    const isUnused = tags.includes('unnecessary');
    return {
      from,
      to: Math.max(from, offset(doc, end)),
      severity: code === null || fatal.test(code) ? 'error' : isUnused ? 'info' : 'warning',
      source: code === null || code === 'invalid-syntax' ? 'Python' : `Ruff ${code}`,
      message,
      actions: actionsOf(violation),
    };
  });
}

function actionsOf({ fix, message }: Violation): Action[] {
  if (fix === null) return [];
  return [
    {
      name: fix.message ?? `Fix: ${message}`,
      apply: (view) => {
        const { doc } = view.state;
        view.dispatch({
          changes: fix.edits.map(({ location, end_location: end, content }) => ({
            from: offset(doc, location),
            to: offset(doc, end),
            insert: content ?? '',
          })),
          userEvent: 'input.fix',
        });
      },
    },
  ];
}

/** @param place row and column starting at 1, in UTF-16 code units; the row after the last row is the end of the
 *  document */
function offset(doc: Text, { row, column }: Place): number {
  if (row > doc.lines) return doc.length;
  const line = doc.line(row);
  return Math.min(line.from + column - 1, line.to);
}
