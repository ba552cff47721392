/** The page in which the dashboard shows HTML from artifacts. The page's origin is opaque, and its policy permits
 *  neither the content's scripts nor requests. The content therefore has no access to the dashboard. The page also
 *  removes elements that the policy would block. It removes links, because following a link would replace the
 *  preview. */
import { createHash } from 'node:crypto';
import type { Express } from 'express';

const script = `
addEventListener('message', ({ source, data }) => {
  if (source !== parent || typeof data !== 'string') return;
  const page = new DOMParser().parseFromString(data, 'text/html');
  for (const one of page.querySelectorAll('script, base, link, iframe, object, embed, meta[http-equiv]')) one.remove();
  for (const one of page.querySelectorAll('*')) {
    for (const { name, value } of [...one.attributes]) {
      const isExternal = /^(xlink:)?(href|src|srcset|action|formaction|poster)$/.test(name) && !/^(#|data:)/.test(value);
      if (isExternal || name.startsWith('on')) one.removeAttribute(name);
    }
  }
  document.documentElement.replaceWith(document.adoptNode(page.documentElement));
});
addEventListener('keydown', ({ key }) => key === 'Escape' && parent.postMessage('escape', '*'));
parent.postMessage('ready', '*');
`;

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Preview</title>
  </head>
  <body>
    <script>${script}</script>
  </body>
</html>
`;

const policy = [
  // Permits only the page's own script. Without allow-same-origin, the page's origin is opaque.
  'sandbox allow-scripts',
  "default-src 'none'",
  `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  'media-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** Adds `/preview-frame`. The dashboard sends the HTML to this page as a message. */
export function addPreviewFrame(app: Express): void {
  app.get('/preview-frame', (_request, response) => {
    response
      .set('Content-Security-Policy', policy)
      .set('X-Frame-Options', 'SAMEORIGIN')
      .set('Cache-Control', 'no-cache')
      .type('html')
      .end(page);
  });
}
