/** Writes the API description to `docs/openapi.json`, for use without a server. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiDescription } from './operations.ts';

const file = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, apiDescription());
