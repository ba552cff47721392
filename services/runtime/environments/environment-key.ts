/** The name of an environment: equal names, equal content. Pure. */
import { createHash } from 'node:crypto';
import type { IndexSettings } from './index-settings.ts';
import type { Interpreter } from './interpreter.ts';
import type { Requirements } from './requirements.ts';

export interface KeyParts {
  readonly requirements: Requirements;
  readonly interpreter: Interpreter;
  readonly settings: IndexSettings;
  readonly scriptId: string;
  /** Version of the files that private requirements may name. */
  readonly projectVersion: string | undefined;
  /** A new value resolves anew. */
  readonly resolution: string | undefined;
  /** What is to be installed; `undefined` where that is to be chosen. */
  readonly lock: string | undefined;
}

/** SHA-256 (hex) of everything that decides what an environment contains. */
export function environmentKey(parts: KeyParts): string {
  const { requirements, interpreter, settings } = parts;
  const { executable, version, platform } = interpreter;
  const content: unknown[] = ['2', executable, version, platform, requirements.kind];
  if (requirements.kind !== 'none') {
    const chosenFor = parts.lock === undefined ? parts.resolution : undefined;
    content.push(requirements.text, chosenFor ?? null, parts.lock ?? null);
    content.push(settings.pip, settings.uv, settings.common);
    content.push(settings.pipConfig?.content ?? null, settings.uvConfig?.content ?? null);
  }
  if (requirements.kind === 'private') content.push(parts.scriptId, parts.projectVersion ?? null);
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
