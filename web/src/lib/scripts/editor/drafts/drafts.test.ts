import { describe, expect, test } from 'vitest';
import { Drafts, type Draft } from './drafts.ts';
import { mergeTexts } from './merge.ts';

class MemoryStorage {
  readonly #items = new Map<string, string>();
  isFull = false;
  get length(): number {
    return this.#items.size;
  }
  key(at: number): string | null {
    return [...this.#items.keys()][at] ?? null;
  }
  getItem(key: string): string | null {
    return this.#items.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    if (this.isFull) throw new DOMException('full', 'QuotaExceededError');
    this.#items.set(key, value);
  }
  removeItem(key: string): void {
    this.#items.delete(key);
  }
}

const draft: Draft = { text: 'new', base: 'old', etag: '"3"', savedAtMs: 1000 };
const dayMs = 24 * 3_600_000;

describe('drafts', () => {
  test('belong to a user, a script and a file', () => {
    const storage = new MemoryStorage();
    const drafts = new Drafts(storage, 'ada', 's1');
    expect(drafts.write('lib/a.py', draft)).toBe(true);
    expect(drafts.read('lib/a.py')).toEqual(draft);
    expect(drafts.paths(2000)).toEqual(['lib/a.py']);
    expect(new Drafts(storage, 'ada', 's2').paths(2000)).toEqual([]);
    expect(new Drafts(storage, 'vera', 's1').read('lib/a.py')).toBeNull();
    drafts.remove('lib/a.py');
    expect(drafts.paths(2000)).toEqual([]);
  });

  test('expire, and are ignored if their stored format is unknown', () => {
    const storage = new MemoryStorage();
    const drafts = new Drafts(storage, 'ada', 's1');
    drafts.write('a.py', draft);
    storage.setItem('draft:ada:s1:b.py', '{"text": 1}');
    storage.setItem('draft:ada:s1:c.py', '{');
    expect(drafts.paths(1000 + 29 * dayMs)).toEqual(['a.py']);
    expect(drafts.paths(1000 + 31 * dayMs)).toEqual([]);
    expect(storage.length).toBe(0);
  });

  test('that cannot be stored are rejected, and the previous draft is removed', () => {
    const storage = new MemoryStorage();
    const drafts = new Drafts(storage, 'ada', 's1');
    drafts.write('a.py', draft);
    storage.isFull = true;
    expect(drafts.write('a.py', { ...draft, text: 'newer' })).toBe(false);
    expect(drafts.read('a.py')).toBeNull();
    storage.isFull = false;
    expect(drafts.write('a.py', { ...draft, text: 'x'.repeat(1_000_001) })).toBe(false);
  });
});

describe('a three-way merge', () => {
  const base = 'a\nb\nc\nd\ne\n';

  test('combines changes in different places', () => {
    expect(mergeTexts(base, 'A\nb\nc\nd\ne\n', 'a\nb\nc\nd\nE\nf\n')).toEqual({
      text: 'A\nb\nc\nd\nE\nf\n',
      overlaps: 0,
    });
    expect(mergeTexts(base, base, 'b\nc\nd\ne\n')).toEqual({ text: 'b\nc\nd\ne\n', overlaps: 0 });
  });

  test('keeps the local changes where both sides have different changes', () => {
    expect(mergeTexts(base, 'a\nmine\nc\nd\ne\n', 'a\ntheirs\nc\nd\nE\n')).toEqual({
      text: 'a\nmine\nc\nd\nE\n',
      overlaps: 1,
    });
  });

  test('applies a change once if both sides contain it', () => {
    const same = 'a\nb\nx\nc\nd\ne\n';
    expect(mergeTexts(base, same, same)).toEqual({ text: same, overlaps: 0 });
  });
});
