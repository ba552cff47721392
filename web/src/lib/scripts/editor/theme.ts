import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

// Colors are CSS variables of the page, so one theme covers both light and dark mode.
const look = EditorView.theme({
  '&': { height: '100%', color: 'var(--foreground)', backgroundColor: 'var(--surface)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', fontSize: '0.8125rem', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--foreground)', padding: '0.75rem 0' },
  '.cm-cursor': { borderLeftColor: 'var(--foreground)' },
  '.cm-gutters': {
    backgroundColor: 'var(--surface)',
    color: 'var(--muted-foreground)',
    border: 'none',
    paddingLeft: '0.5rem',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in oklab, var(--surface-2) 55%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--foreground)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'color-mix(in oklab, var(--ring) 28%, transparent)' },
  '.cm-matchingBracket': {
    backgroundColor: 'color-mix(in oklab, var(--ring) 22%, transparent)',
    outline: 'none',
  },
  '.cm-panels': {
    backgroundColor: 'var(--surface-2)',
    color: 'var(--foreground)',
    borderColor: 'var(--border)',
  },
  '.cm-panel.cm-search': {
    display: 'flex',
    flexWrap: 'wrap',
    gap: '0.375rem',
    alignItems: 'center',
    padding: '0.5rem 2rem 0.5rem 0.75rem',
    fontFamily: 'var(--default-font-family, sans-serif)',
    '& br': { flexBasis: '100%', content: '""' },
    '& input, & button, & label': { margin: '0', fontSize: '0.8125rem' },
    '& label': { display: 'inline-flex', alignItems: 'center', gap: '0.25rem' },
    '& [name=close]': { fontSize: '1.25rem', right: '0.5rem', top: '0.375rem' },
  },
  '.cm-textfield': {
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--input)',
    borderRadius: '0.375rem',
    padding: '0.25rem 0.5rem',
  },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--surface)',
    color: 'var(--foreground)',
    border: '1px solid var(--border)',
    borderRadius: '0.375rem',
    padding: '0.25rem 0.625rem',
    textTransform: 'capitalize',
    cursor: 'pointer',
  },
  '.cm-tooltip': { backgroundColor: 'var(--surface)', border: '1px solid var(--border)' },
  // This tooltip cannot be scrolled by keyboard, so a long description is cut off at its end.
  '.cm-lsp-signature-tooltip': { maxWidth: '36rem', maxHeight: '16rem', overflowY: 'hidden' },
  '.cm-tooltip-lint': { maxWidth: '36rem', padding: '0' },
  '.cm-diagnostic': { padding: '0.375rem 0.625rem' },
  '.cm-diagnosticSource': { fontSize: '0.75rem', opacity: '1' },
  '.cm-diagnosticAction': {
    backgroundColor: 'var(--primary-soft)',
    color: 'var(--foreground)',
    border: '1px solid var(--border)',
    borderRadius: '0.25rem',
    margin: '0 0 0 0.5rem',
    padding: '0.125rem 0.5rem',
  },
  '&.cm-merge-b .cm-changedLine': {
    backgroundColor: 'var(--success-soft)',
    '& *': { color: 'var(--foreground)' },
  },
  '.cm-deletedChunk': {
    backgroundColor: 'var(--danger-soft)',
    '& *': { color: 'var(--foreground)' },
    '& button, & button[name=accept], & button[name=reject]': {
      background: 'var(--surface)',
      color: 'var(--foreground)',
      border: '1px solid var(--border)',
      minHeight: '1.5rem',
      padding: '0 0.5rem',
    },
  },
  '.cm-collapsedLines': {
    '&:before, &:after': { content: '"…"' },
    background: 'var(--surface-2) !important',
    color: 'var(--foreground) !important',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--primary-soft)',
    color: 'var(--foreground)',
  },
});

const highlight = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  {
    tag: [tags.function(tags.definition(tags.variableName)), tags.className, tags.propertyName],
    color: 'var(--code-name)',
  },
  { tag: tags.heading, fontWeight: '600', color: 'var(--code-name)' },
  { tag: tags.link, color: 'var(--code-name)', textDecoration: 'underline' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strong, fontWeight: '600' },
  { tag: tags.invalid, color: 'var(--danger)' },
]);

export const editorTheme: Extension = [look, syntaxHighlighting(highlight)];
