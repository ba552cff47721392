/** The lock file names every package with its hash, so that reviewed and installed packages match. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

interface LockFile {
  readonly packages: Readonly<
    Record<string, { readonly integrity?: string; readonly link?: true; readonly inBundle?: true }>
  >;
}

/** The project's own folders, which have no hash. */
const own = new Set(['', 'web']);

test.each(['../package-lock.json', './bench/peers/package-lock.json'])(
  'every package in %s has a SHA-512 hash',
  (path) => {
    const text = readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');
    const { packages } = JSON.parse(text) as LockFile;
    const without = Object.entries(packages).filter(
      ([name, { integrity, link, inBundle }]) =>
        !own.has(name) && !link && !inBundle && !integrity?.startsWith('sha512-'),
    );
    expect(Object.keys(packages).length).toBeGreaterThan(own.size);
    expect(without).toEqual([]);
  },
);
