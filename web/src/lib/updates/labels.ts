/** Labels for updates. */
import type { Update } from '#lib/api/types.ts';
import type { Tone } from '#lib/ui/badge.svelte';

export const steps: readonly { readonly step: Update['step']; readonly words: string }[] = [
  { step: 'download', words: 'Download' },
  { step: 'verify', words: 'Verify signature' },
  { step: 'backup', words: 'Create backup' },
  { step: 'prepare', words: 'Unpack and install packages' },
  { step: 'restart', words: 'Restart, migrate and monitor services for one minute' },
];

export const statusLabels: Readonly<Record<Update['status'], { word: string; tone: Tone }>> = {
  running: { word: 'In progress', tone: 'info' },
  succeeded: { word: 'Installed', tone: 'success' },
  failed: { word: 'Failed', tone: 'danger' },
  rolled_back: { word: 'Rolled back', tone: 'warning' },
};
