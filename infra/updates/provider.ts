/** Reads updates from a static repository. The repository contains a signed `latest.json`, and the artifact that it
 *  names. */
import { createHash, type KeyObject } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#domain/ports/clock.ts';
import { UpdateRefused, type UpdateProvider } from '#domain/ports/updates.ts';
import type { Release } from '#domain/update/update.ts';
import {
  envelopeName,
  maxEnvelopeBytes,
  openEnvelope,
  releaseOf,
  type Manifest,
} from './manifest.ts';
import type { ReadRepository } from './source.ts';

export interface RepositoryOptions {
  readonly read: ReadRepository;
  /** The trusted keys. One of them must have signed the manifest. */
  readonly keys: readonly KeyObject[];
  readonly clock: Clock;
}

export class RepositoryUpdateProvider implements UpdateProvider {
  readonly #options: RepositoryOptions;

  constructor(options: RepositoryOptions) {
    this.#options = options;
  }

  async checkLatest(): Promise<Release> {
    return releaseOf(this.#open(await this.#readEnvelope()));
  }

  async download(version: string, destination: string): Promise<string> {
    const envelope = await this.#readEnvelope();
    const { version: offered, artifact } = this.#open(envelope);
    if (offered !== version) {
      throw new UpdateRefused(`the repository now offers ${offered} instead of ${version}`);
    }
    const path = join(destination, `${version}.tar.gz`);
    // The signed manifest is stored next to the artifact.
    await writeFile(envelopeOf(path), envelope);
    await writeWhole(await this.#options.read(artifact.path), path, artifact.size_bytes);
    return path;
  }

  async verify(artifactPath: string): Promise<boolean> {
    let manifest: Manifest;
    try {
      manifest = this.#open(await readFile(envelopeOf(artifactPath)));
    } catch (error) {
      if (error instanceof UpdateRefused || isMissing(error)) return false;
      throw error;
    }
    const { size_bytes: size, sha256 } = manifest.artifact;
    const found = await stat(artifactPath).catch(() => undefined);
    return found?.size === size && (await sha256Of(artifactPath)) === sha256;
  }

  #open(envelope: Uint8Array): Manifest {
    const { keys, clock } = this.#options;
    return openEnvelope(envelope, keys, clock.now());
  }

  async #readEnvelope(): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of await this.#options.read(envelopeName)) {
      bytes += part.length;
      if (bytes > maxEnvelopeBytes) throw new UpdateRefused(`${envelopeName} is too large`);
      parts.push(part);
    }
    return Buffer.concat(parts);
  }
}

const envelopeOf = (artifactPath: string) => `${artifactPath}.${envelopeName}`;

/** Writes a file under a temporary name, and renames it when it is complete. */
async function writeWhole(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  sizeBytes: number,
): Promise<void> {
  const part = `${path}.part`;
  const file = await open(part, 'w', 0o600);
  try {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > sizeBytes) throw new UpdateRefused('the artifact is larger than its signed size');
      await file.write(chunk);
    }
    if (bytes < sizeBytes) throw new Error('the download was interrupted');
    await file.sync();
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(part, path);
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
