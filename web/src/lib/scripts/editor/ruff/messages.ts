/** The messages between the page and the worker that runs Ruff. */
import type { Diagnostic } from '@astral-sh/ruff-wasm-web';

export type RuffRequest = { readonly id: number; readonly text: string } & (
  | { readonly method: 'check' }
  | { readonly method: 'format' }
);

export type RuffReply =
  | { readonly id: number; readonly found: readonly Diagnostic[] }
  | { readonly id: number; readonly formatted: string }
  | { readonly id: number; readonly problem: string };
