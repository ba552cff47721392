/** A release repository whose release was changed after it was signed. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rawKeyOf, signManifest } from '../../../infra/updates/manifest.ts';

export interface TamperedRelease {
  /** The environment variables that point the product to the repository. */
  readonly variables: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

/** @param version a version newer than the current release */
export async function tamperedRelease(version: string): Promise<TamperedRelease> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const folder = await mkdtemp(join(tmpdir(), 'orch-repository-'));
  const content = Buffer.from('not what was signed');
  const manifest = {
    format: 'orchestrator-update',
    format_version: 1,
    version,
    notes: 'Runs are painted in better colors.',
    released_at: '2026-11-20T00:00:00.000Z',
    expires_at: '2999-01-01T00:00:00.000Z',
    minimum_version: '0.0.1',
    artifact: { path: 'release.tar.gz', size_bytes: content.length, sha256: 'a'.repeat(64) },
  } as const;
  await writeFile(join(folder, 'latest.json'), signManifest(manifest, privateKey));
  await writeFile(join(folder, 'release.tar.gz'), content);
  return {
    variables: {
      ORCH_UPDATE_URL: pathToFileURL(folder).href,
      ORCH_UPDATE_KEY: rawKeyOf(publicKey).toString('base64'),
    },
    remove: async () => await rm(folder, { recursive: true }),
  };
}
