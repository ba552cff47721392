import { AnsiUp } from 'ansi_up';

/** Longer lines are truncated on the screen only. Copied and downloaded logs are complete. */
const maxShown = 10_000;

const ansi = new AnsiUp();
ansi.use_classes = true;
// Logs must not contain links (OSC 8), because the text hides their target.
ansi.url_allowlist = {};

/** Converts a line to escaped HTML with spans for terminal colors. Colors do not continue on the next line. */
export function lineHtml(text: string): string {
  const shown = lastDrawn(text);
  const cut = shown.length > maxShown ? `${shown.slice(0, maxShown)}\u001b[0m …` : shown;
  return withReadableText(ansi.ansi_to_html(`${cut}\u001b[0m`));
}

/** Adds a contrasting text color where a line sets only the background color, because the theme's text color may be
 *  unreadable on that background. */
function withReadableText(html: string): string {
  return html.replaceAll(
    /style="background-color:rgb\((\d+),\s*(\d+),\s*(\d+)\)/g,
    (style, red: string, green: string, blue: string) => {
      const light = 0.299 * Number(red) + 0.587 * Number(green) + 0.114 * Number(blue);
      return `${style};color:${light > 140 ? 'black' : 'white'}`;
    },
  );
}

/** Returns the final text of a line that was overwritten with carriage returns, such as a progress bar. */
function lastDrawn(text: string): string {
  if (!text.includes('\r')) return text;
  return text.replace(/\r+$/, '').split('\r').at(-1) ?? '';
}
