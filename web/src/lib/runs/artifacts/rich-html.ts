/** Creates HTML pages for the preview frame, which executes no scripts. */
import { Marked } from 'marked';

const style = `
:root { color: CanvasText; background: Canvas; font: 14px/1.6 system-ui, sans-serif; }
body { margin: 1rem; max-width: 60rem; overflow-wrap: anywhere; }
pre, code { font-family: ui-monospace, monospace; font-size: 0.8125rem; }
pre { overflow: auto; padding: 0.6rem 0.8rem; border-radius: 0.4rem; background: #8881; }
table { border-collapse: collapse; }
th, td { border: 1px solid #8886; padding: 0.2rem 0.5rem; text-align: left; }
img { max-width: 100%; }
blockquote { margin-left: 0; padding-left: 1rem; border-left: 3px solid #8886; }
.cell { margin: 0.8rem 0; }
.code { border-left: 3px solid #4a7dd4; }
.error { color: #c33; }
`;

/** Converts Markdown to an HTML page. HTML in the Markdown is kept, because the preview frame sanitizes the page. */
export function markdownPage(text: string, isDark: boolean): string {
  return richPage(renderMarkdown(text), isDark);
}

export function renderMarkdown(text: string): string {
  return new Marked({ async: false, gfm: true }).parse(text) as string;
}

/** Wraps HTML in a page with the dashboard's styles. */
export function richPage(body: string, isDark: boolean): string {
  const scheme = isDark ? 'dark' : 'light';
  const css = `${style}:root { color-scheme: ${scheme}; }`;
  return `<!doctype html><html lang="en"><title>Preview</title><style>${css}</style><body>${body}</body></html>`;
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
