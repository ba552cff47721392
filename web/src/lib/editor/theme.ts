import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

// Colours are variables of the page, so that light and dark need no second theme.
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
  '.cm-tooltip': { backgroundColor: 'var(--surface)', border: '1px solid var(--border)' },
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
