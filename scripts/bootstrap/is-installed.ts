// Exit code 0 when node_modules holds exactly the versions of package-lock.json, so that no
// reinstallation is needed. npm writes what it installed to node_modules/.package-lock.json.
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
    // Optional packages of other platforms are locked but not installed.
    if (!installed.has(path) && optional) continue;
    if (installed.get(path)?.version !== version || !existsSync(path)) return false;
  }
  return [...installed.keys()].every((path) => wanted.has(path));
}

process.exitCode = isInstalled() ? 0 : 1;
