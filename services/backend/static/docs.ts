/** Serves the interactive API documentation at `/docs`, with local assets. */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import express, { type Express, type Response } from 'express';

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>API of the Script Orchestration Service</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const start = `window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
});
`;

const assets = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'] as const;

/** Adds `/docs` and its assets. */
export function addDocs(app: Express): void {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const send = (response: Response, type: string, text: string): void => {
    response.type(type).set('Cache-Control', 'no-cache').end(text);
  };
  app.get(['/docs', '/docs/'], (_request, response) => send(response, 'html', page));
  app.get('/docs/start.js', (_request, response) => send(response, 'js', start));
  const files = express.static(folder, { index: false, fallthrough: true, maxAge: '1h' });
  for (const name of assets) {
    app.get(`/docs/${name}`, (request, response, next) => {
      request.url = `/${name}`;
      files(request, response, next);
    });
  }
}
