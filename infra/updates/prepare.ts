/** Unpacks an artifact into a folder from which its release can be started. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isSameJson } from '#domain/kernel/json.ts';
import { UpdateRefused } from '#domain/ports/updates.ts';
import { flushDisk } from '#infra/system/flush-disk.ts';

export interface Preparing {
  /** The path of a verified artifact. */
  readonly artifactPath: string;
  readonly version: string;
  /** The folder for the release. Existing content is replaced. */
  readonly folder: string;
  /** The folder of the running program, whose packages are reused if they are identical. */
  readonly ownFolder: string;
}

/** Unpacks a release and installs the packages in its lock file. The folder appears only when it is complete.
 *  @throws UpdateRefused if the artifact contains a different version than declared */
export async function prepareRelease(
  { artifactPath, version, folder, ownFolder }: Preparing,
  signal: AbortSignal,
): Promise<void> {
  // Each attempt uses a new folder, because processes of an interrupted attempt may still write to the old one.
  const part = await mkdtemp(`${folder}.part-`);
  try {
    await chmod(part, 0o755);
    await fill(part, { artifactPath, version, ownFolder }, signal);
    await rm(folder, { recursive: true, force: true });
    await rename(part, folder);
  } catch (error) {
    await rm(part, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
}

async function fill(
  part: string,
  { artifactPath, version, ownFolder }: Omit<Preparing, 'folder'>,
  signal: AbortSignal,
): Promise<void> {
  await run('tar', ['-xzf', artifactPath, '--no-same-owner', '-C', part], part, signal);
  const packJson = JSON.parse(await readFile(join(part, 'package.json'), 'utf8')) as {
    version?: unknown;
  };
  if (packJson.version !== version) {
    throw new UpdateRefused(`the artifact contains ${String(packJson.version)}, not ${version}`);
  }
  await takeOverPackages(ownFolder, part, signal);
  // Installs missing packages, and another version of Node.js if the release requires one.
  await run('bash', ['scripts/bootstrap.sh'], part, signal);
  // A folder with the final name must be complete, even after a power loss.
  await flushDisk(part);
}

async function takeOverPackages(from: string, to: string, signal: AbortSignal): Promise<void> {
  const [own, wanted] = await Promise.all([packagesOf(from), packagesOf(to)]);
  if (!isSameJson(own, wanted)) return;
  for (const folder of packageFolders(wanted)) {
    const [present, copy] = [join(from, folder), join(to, folder)];
    if (existsSync(present)) await takeOver(present, copy, to, signal);
  }
}

/** Returns all `node_modules` folders, including those of workspaces. */
function packageFolders(packages: Packages): readonly string[] {
  const paths = Object.keys(packages).filter((path) => path.includes('node_modules/'));
  return [...new Set(paths.map((path) => path.replace(/node_modules\/.*$/, 'node_modules')))];
}

async function takeOver(
  present: string,
  copy: string,
  to: string,
  signal: AbortSignal,
): Promise<void> {
  // Hard-links the files, which is fast and uses no disk space. Copies the files if the source is on another disk.
  await run('cp', ['-al', present, copy], to, signal).catch(async () => {
    await rm(copy, { recursive: true, force: true });
    await cp(present, copy, { recursive: true, verbatimSymlinks: true });
  });
}

type Packages = Readonly<Record<string, { readonly version?: string }>>;

/** Returns the packages in the lock file, without the release's own version. */
async function packagesOf(folder: string): Promise<Packages> {
  const text = await readFile(join(folder, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Packages };
  const { version: _, ...root } = packages[''] ?? {};
  return { ...packages, '': root };
}

/** The environment for package managers. Contains the machine's variables, but no secrets of this process. */
const needed =
  /^(HOME|USER|LOGNAME|LANG|LC_\w+|TMPDIR|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|npm_config_\w+|((https?|no|all)_proxy))$/i;

async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  signal: AbortSignal,
): Promise<void> {
  const inherited = Object.entries(process.env).filter(([name]) => needed.test(name));
  const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const child = spawn(command, args, {
    cwd,
    env: { ...Object.fromEntries(inherited), PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  const said: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) return;
  const last = said.join('').trim().split('\n').slice(-3).join(' ');
  throw new Error(`${command} failed (${String(code)}): ${last}`);
}
