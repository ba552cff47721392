import { expect, test } from 'vitest';
import { lineHtml } from './ansi.ts';

test('script output is shown as text, regardless of its content', () => {
  expect(lineHtml('<img src=x onerror=alert(1)> & "x"')).toBe(
    '&lt;img src=x onerror=alert(1)&gt; &amp; &quot;x&quot;',
  );
  const coloured = lineHtml('\u001b[31m<script>alert(1)</script>\u001b[0m');
  expect(coloured).toBe('<span class="ansi-red-fg">&lt;script&gt;alert(1)&lt;/script&gt;</span>');
  const link = lineHtml('\u001b]8;;javascript:alert(1)\u0007here\u001b]8;;\u0007');
  expect(link).not.toMatch(/<a|javascript/);
});

test('text on a colored background is readable in the light and dark themes', () => {
  expect(lineHtml('\u001b[48;2;60;20;90mviolet\u001b[0m')).toContain(';color:white');
  expect(lineHtml('\u001b[48;2;250;250;90myellow\u001b[0m')).toContain(';color:black');
  expect(lineHtml('\u001b[38;2;1;2;3;48;2;250;250;90mboth\u001b[0m')).not.toContain('color:black');
});
