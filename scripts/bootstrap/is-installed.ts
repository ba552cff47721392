// Exits with code 0 if node_modules contains exactly the versions in package-lock.json, so that no installation is
// needed. npm records the installed packages in node_modules/.package-lock.json.
import { existsSync, readFileSync } from 'node:fs';

interface LockedPackage {
  readonly version?: string;
  readonly optional?: boolean;
  readonly link?: boolean;
}

const INSTALLED = 'node_modules/.package-lock.json';

function packagesOf(path: string): Map<string, LockedPackage> {
  const lock = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly packages: Record<string, LockedPackage>;
  };
  const entries = Object.entries(lock.packages);
  return new Map(entries.filter(([name, { link }]) => name.includes('node_modules/') && !link));
}

function isInstalled(): boolean {
  if (!existsSync(INSTALLED)) return false;
  const wanted = packagesOf('package-lock.json');
  const installed = packagesOf(INSTALLED);
  for (const [path, { version, optional }] of wanted) {
    // Optional packages for other platforms are in the lock file but are not installed.
    if (!installed.has(path) && optional) continue;
    if (installed.get(path)?.version !== version || !existsSync(path)) return false;
  }
  return [...installed.keys()].every((path) => wanted.has(path));
}

process.exitCode = isInstalled() ? 0 : 1;
