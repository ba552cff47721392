import { AnsiUp } from 'ansi_up';

/** Longer lines are truncated on the screen; copies and downloads are complete. */
const maxShown = 10_000;

const ansi = new AnsiUp();
ansi.use_classes = true;
// A log must not contain links (OSC 8), because their target would not be visible.
ansi.url_allowlist = {};

/** One line as escaped HTML in which terminal colors are spans. Colors end with their line. */
export function lineHtml(text: string): string {
  const shown = lastDrawn(text);
  const cut = shown.length > maxShown ? `${shown.slice(0, maxShown)}\u001b[0m …` : shown;
  return withReadableText(ansi.ansi_to_html(`${cut}\u001b[0m`));
}

/** A background color without a text color is light or dark regardless of the theme, so the text needs a contrasting
 *  color. */
function withReadableText(html: string): string {
  return html.replaceAll(
    /style="background-color:rgb\((\d+),\s*(\d+),\s*(\d+)\)/g,
    (style, red: string, green: string, blue: string) => {
      const light = 0.299 * Number(red) + 0.587 * Number(green) + 0.114 * Number(blue);
      return `${style};color:${light > 140 ? 'black' : 'white'}`;
    },
  );
}

/** The visible text of a line that was redrawn with carriage returns, such as a progress bar. */
function lastDrawn(text: string): string {
  if (!text.includes('\r')) return text;
  return text.replace(/\r+$/, '').split('\r').at(-1) ?? '';
}
