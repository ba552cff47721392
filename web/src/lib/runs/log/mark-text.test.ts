import { expect, test } from 'vitest';
import { lineHtml } from './ansi.ts';
import { markText } from './mark-text.ts';

const marked = (text: string, wanted: string) => markText(lineHtml(text), wanted);

test('each match is marked, regardless of case', () => {
  expect(marked('Error: no error', 'error')).toBe('<mark>Error</mark>: no <mark>error</mark>');
});

test('color markup stays unchanged', () => {
  expect(marked('\u001b[31mred span\u001b[0m', 'span')).toBe(
    '<span class="ansi-red-fg">red <mark>span</mark></span>',
  );
});

test.each(['<b>', '&', `"it's"`, 'a.b*', '$&'])(
  'the search text “%s” is matched literally, not as a pattern or HTML',
  (wanted) => {
    const html = marked(`x ${wanted} y`, wanted);
    expect(html).toContain('<mark>');
    expect(html).not.toContain('<b>');
  },
);

test('an empty search text marks nothing', () => {
  expect(marked('text', '')).toBe('text');
});
