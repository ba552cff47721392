/** Computes environment keys. Environments with equal keys have equal content. Pure. */
import { createHash } from 'node:crypto';
import type { IndexSettings } from './index-settings.ts';
import type { Interpreter } from './interpreter.ts';
import type { Requirements } from './requirements.ts';

export interface KeyParts {
  readonly requirements: Requirements;
  readonly interpreter: Interpreter;
  readonly settings: IndexSettings;
  readonly scriptId: string;
  /** The version of the script files to which private requirements can refer. */
  readonly projectVersion: string | undefined;
  /** When this value changes, the requirements are resolved again. */
  readonly resolution: string | undefined;
  /** The packages to install, or `undefined` to resolve the requirements. */
  readonly lock: string | undefined;
}

/** Returns the SHA-256 hash (hex) of everything that determines an environment's content. */
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
