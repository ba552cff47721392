/** Templates of new scripts. Each template has a folder with its files next to this module. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultSettings, type StartMode } from '#domain/script/settings.ts';
import { newMainPy } from './blank.ts';

export const templateIds = ['http-monitor', 'chat-bot', 'etl-job', 'resident-handler'] as const;
export type TemplateId = (typeof templateIds)[number];

/** The names and descriptions from which users choose a template. */
export const templateTexts: Readonly<
  Record<TemplateId, { readonly name: string; readonly description: string }>
> = {
  'http-monitor': {
    name: 'HTTP monitor',
    description: 'Checks that URLs respond, and fails if one does not.',
  },
  'chat-bot': {
    name: 'Chat bot',
    description: 'Answers messages on the console, or on Telegram if a token is set.',
  },
  'etl-job': {
    name: 'ETL job',
    description: 'Reads a CSV file, aggregates it and writes the result.',
  },
  'resident-handler': {
    name: 'Resident handler',
    description: 'One process imports the script once and serves run after run.',
  },
};

/** The start mode of scripts from the template. */
export function templateStartMode(id: TemplateId | undefined): StartMode {
  return id === 'resident-handler' ? 'resident' : defaultSettings.startMode;
}

export interface TemplateFile {
  readonly path: string;
  readonly content: Uint8Array;
}

/** The initial files of a script, by path: the files of the template, or a hello-world program. */
export async function templateFiles(id?: TemplateId): Promise<readonly TemplateFile[]> {
  if (id === undefined) return [{ path: templateEntrypoint, content: Buffer.from(newMainPy) }];
  const folder = fileURLToPath(new URL(id, import.meta.url));
  const names = (await readdir(folder)).toSorted();
  return await Promise.all(
    names.map(async (path) => ({ path, content: await readFile(join(folder, path)) })),
  );
}

/** The entrypoint of a template. */
export const templateEntrypoint = 'main.py';
