/** Keeps unsaved edits in the browser's storage, so that they survive a reload. */

/** The unsaved edits of a file. */
export interface Draft {
  /** The edited text, with LF line endings. */
  readonly text: string;
  /** The saved content on which the edits are based, with LF line endings. */
  readonly base: string;
  /** The `ETag` of the saved content. */
  readonly etag: string | null;
  readonly savedAtMs: number;
}

type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

/** Limits the size of a draft, because browsers store only about 5 MiB per origin. */
export const maxCharacters = 1_000_000;
const keptMs = 30 * 24 * 3_600_000;

/** A user's drafts for one script. */
export class Drafts {
  readonly #storage: DraftStorage;
  readonly #prefix: string;

  constructor(storage: DraftStorage, userId: string, scriptId: string) {
    this.#storage = storage;
    this.#prefix = `draft:${userId}:${scriptId}:`;
  }

  /** Returns the paths of files with a draft, and removes expired drafts. */
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
