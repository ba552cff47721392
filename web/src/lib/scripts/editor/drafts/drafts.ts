/** Unsaved edits in the browser's storage, so that they survive a reload. */

/** The unsaved content of a file. */
export interface Draft {
  /** The edited text, with line feeds. */
  readonly text: string;
  /** The saved content that was edited, with line feeds. */
  readonly base: string;
  /** `ETag` of that content. */
  readonly etag: string | null;
  readonly savedAtMs: number;
}

type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

/** Browsers store about 5 MiB. */
export const maxCharacters = 1_000_000;
const keptMs = 30 * 24 * 3_600_000;

/** The drafts of one user for one script. */
export class Drafts {
  readonly #storage: DraftStorage;
  readonly #prefix: string;

  constructor(storage: DraftStorage, userId: string, scriptId: string) {
    this.#storage = storage;
    this.#prefix = `draft:${userId}:${scriptId}:`;
  }

  /** The files with a draft. Removes drafts that are too old. */
  paths(nowMs: number): string[] {
    const keys = Array.from({ length: this.#storage.length }, (_, at) => this.#storage.key(at));
    return keys.flatMap((key) => {
      if (!key?.startsWith(this.#prefix)) return [];
      const path = key.slice(this.#prefix.length);
      const draft = this.read(path);
      if (draft && nowMs - draft.savedAtMs < keptMs) return [path];
      this.remove(path);
      return [];
    });
  }

  read(path: string): Draft | null {
    try {
      const found: unknown = JSON.parse(this.#storage.getItem(this.#prefix + path) ?? 'null');
      return isDraft(found) ? found : null;
    } catch {
      return null;
    }
  }

  /** @returns false if the browser cannot store the draft */
  write(path: string, draft: Draft): boolean {
    if (draft.text.length + draft.base.length > maxCharacters) {
      this.remove(path);
      return false;
    }
    try {
      this.#storage.setItem(this.#prefix + path, JSON.stringify(draft));
      return true;
    } catch {
      this.remove(path);
      return false;
    }
  }

  remove(path: string): void {
    this.#storage.removeItem(this.#prefix + path);
  }
}

function isDraft(value: unknown): value is Draft {
  if (typeof value !== 'object' || value === null) return false;
  const { text, base, etag, savedAtMs } = value as Partial<Record<keyof Draft, unknown>>;
  const hasTag = etag === null || typeof etag === 'string';
  return (
    typeof text === 'string' && typeof base === 'string' && typeof savedAtMs === 'number' && hasTag
  );
}
