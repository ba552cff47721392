/** Makes and signs releases in a static repository, which any web server or folder can serve.
 *
 *     node scripts/make-release.ts key FILE            writes a new key to FILE, and prints its public half
 *     node scripts/make-release.ts add REPOSITORY --key FILE [--version 0.1.14] [--minimum 0.1.13]
 *                                  [--days 90] [--notes "What is new"] [--folder .]
 *
 *  `add` packs the dashboard's build and the current content of the files that git tracks in FOLDER. For an existing
 *  version, `add` only signs the manifest again, which extends the manifest's validity. */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isVersion } from '#domain/update/update.ts';
import { rawKeyOf, signManifest } from '#infra/updates/manifest.ts';

const dayMs = 24 * 60 * 60_000;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    key: { type: 'string' },
    version: { type: 'string' },
    minimum: { type: 'string' },
    days: { type: 'string', default: '90' },
    notes: { type: 'string', default: '' },
    folder: { type: 'string', default: '.' },
  },
});
const [command, target] = positionals;

if (command === 'key' && target !== undefined) makeKey(target);
else if (command === 'add' && target !== undefined && values.key !== undefined) {
  addRelease(target, values.key);
} else {
  process.stderr.write('Use: make-release.ts key FILE | add REPOSITORY --key FILE …\n');
  process.exitCode = 1;
}

function makeKey(file: string): void {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(file, pem, { mode: 0o600, flag: 'wx' });
  process.stdout.write(`ORCH_UPDATE_KEY=${rawKeyOf(publicKey).toString('base64')}\n`);
}

function addRelease(repository: string, keyFile: string): void {
  const privateKey = createPrivateKey(readFileSync(keyFile));
  const { folder, minimum = '0.1.13' } = values;
  const own = versionIn(folder);
  const version = values.version ?? own;
  // The requested version must match the version of the packed release.
  if (version !== own)
    throw new Error(`package.json in ${folder} has version ${own}, not ${version}`);
  for (const one of [version, minimum]) {
    if (!isVersion(one)) throw new Error(`${one} is not a version with three numbers`);
  }
  const path = `${version}/orchestrator-${version}.tar.gz`;
  const file = join(repository, path);
  mkdirSync(join(repository, version), { recursive: true });
  if (!existsSync(file)) pack(folder, file);
  const now = Date.now();
  const manifest = {
    format: 'orchestrator-update',
    format_version: 1,
    version,
    notes: values.notes,
    released_at: new Date(now).toISOString(),
    expires_at: new Date(now + Number(values.days) * dayMs).toISOString(),
    minimum_version: minimum,
    artifact: { path, size_bytes: statSync(file).size, sha256: sha256Of(file) },
  } as const;
  replace(join(repository, 'latest.json'), signManifest(manifest, privateKey));
  const publicKey = rawKeyOf(createPublicKey(privateKey)).toString('base64');
  process.stdout.write(`${version} is in ${repository}, signed by ${publicKey}\n`);
}

function versionIn(folder: string): string {
  const text = readFileSync(join(folder, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function pack(folder: string, file: string): void {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: folder, encoding: 'utf8' });
  const files = tracked.split('\0').filter((name) => name !== '' && existsSync(join(folder, name)));
  const options = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=@0'];
  const list = [...files, 'web/build'].join('\0');
  const part = `${file}.part`;
  execFileSync('tar', ['-czf', part, ...options, '-C', folder, '--null', '-T', '-'], {
    input: list,
  });
  renameSync(part, file);
}

function sha256Of(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function replace(file: string, text: string): void {
  writeFileSync(`${file}.part`, text);
  renameSync(`${file}.part`, file);
}
