import { expect, test } from 'vitest';
import { lineHtml } from './ansi.ts';

test('what a script prints is shown as text, whatever it is', () => {
  expect(lineHtml('<img src=x onerror=alert(1)> & "x"')).toBe(
    '&lt;img src=x onerror=alert(1)&gt; &amp; &quot;x&quot;',
  );
  const coloured = lineHtml('\u001b[31m<script>alert(1)</script>\u001b[0m');
  expect(coloured).toBe('<span class="ansi-red-fg">&lt;script&gt;alert(1)&lt;/script&gt;</span>');
  const link = lineHtml('\u001b]8;;javascript:alert(1)\u0007here\u001b]8;;\u0007');
  expect(link).not.toMatch(/<a|javascript/);
});
