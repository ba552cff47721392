/** Formats planned and applied changes for API responses. */
import type { Imported } from './import.ts';
import type { Step } from './plan.ts';

export function importJson({ steps, shown }: Imported, dryRun: boolean) {
  const count = (action: Step['action']) => steps.filter((one) => one.action === action).length;
  return {
    dry_run: dryRun,
    counts: {
      create: count('create'),
      change: count('change'),
      delete: count('delete'),
      unchanged: count('unchanged'),
      absent: count('absent'),
    },
    items: steps.map(({ kind, id, name, action, changes, note }) => ({
      kind,
      id,
      name,
      action,
      changes,
      note,
    })),
    missing_secrets: steps
      .filter(({ missing }) => missing.length > 0)
      .map(({ kind, id, name, missing }) => ({ kind, id, name, secrets: missing })),
    shown_once: shown,
  };
}
