/** Writes `operations.json` from `docs/openapi.json`, one operation per line. */
import { readFileSync, writeFileSync } from 'node:fs';
import { operationsOf, type Description } from './describe.ts';
import { operationsFile } from './operations.ts';

const source = new URL('../../../docs/openapi.json', import.meta.url);
const description = JSON.parse(readFileSync(source, 'utf8')) as Description;
const lines = operationsOf(description).map((one) => JSON.stringify(one));
writeFileSync(operationsFile, `[\n${lines.join(',\n')}\n]\n`);
