/** Serves the dashboard's files, and the same HTML page at the URL of every dashboard page. */
import { existsSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import express, { type Express, type Request } from 'express';

const reserved =
  /^\/(api|ws|docs|hooks|mcp|metrics|sdk|health|livez|readyz|openapi\.json|preview-frame)(\/|$)/;

/** Files whose names contain a hash of their content. */
const immutable = /^\/_app\/immutable\/(?:[\w-]+\/)*[\w.-]+$/;
const packedEnding = '.br';

const notBuilt = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="refresh" content="3" />
    <title>Script Orchestration Service</title>
  </head>
  <body>
    <h1>The dashboard is not built yet</h1>
    <p>The first <code>make run</code> builds it in the background, and this page reloads when it is ready. To build it yourself, run <code>make install</code>.</p>
    <p>The API is available without the dashboard. See the <a href="/docs">API documentation</a>.</p>
  </body>
</html>
`;

/** Adds the dashboard. Other URLs are left to the next handler.
 *  @param folder the build folder; read on each request, so it may be created later */
export function addDashboard(app: Express, folder: string): void {
  app.use((request, _response, next) => {
    // Serves the file that was compressed at build time, if the client accepts it.
    const packJson = `${request.path}${packedEnding}`;
    const isPacked = immutable.test(request.path) && request.acceptsEncodings('br') === 'br';
    if (isPacked && existsSync(join(folder, packJson))) request.url = packJson;
    next();
  });
  app.use(
    express.static(folder, {
      index: false,
      redirect: false,
      dotfiles: 'ignore',
      setHeaders: (response, path) => {
        // Also covers fonts, because their names contain their version.
        const isImmutable = ['immutable', 'fonts'].some((name) =>
          path.includes(`${sep}${name}${sep}`),
        );
        if (path.endsWith(packedEnding)) {
          response.type(extname(path.slice(0, -packedEnding.length)));
          response.setHeader('Content-Encoding', 'br');
        }
        if (isImmutable) response.vary('Accept-Encoding');
        response.setHeader(
          'Cache-Control',
          isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
        );
      },
    }),
  );
  app.get('/{*page}', (request, response, next) => {
    if (!isPage(request)) return next();
    response.setHeader('Cache-Control', 'no-cache');
    // Sends a path relative to the root. Express refuses an absolute path with a hidden folder, such as ~/.cache.
    if (existsSync(join(folder, 'index.html'))) response.sendFile('index.html', { root: folder });
    else response.status(503).type('html').end(notBuilt);
  });
}

function isPage(request: Request): boolean {
  if (reserved.test(request.path)) return false;
  // Clients that accept any type get the page at `/`, and a plain 404 at other URLs.
  const offered = request.path === '/' ? ['html', 'json'] : ['json', 'html'];
  return request.accepts(offered) === 'html';
}
