/** Pins the images of the production edition to the current digests of their tags: `make pin-images`. Requires access
 *  to the registries, but no container engine. Review and test the changes before committing them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { imageFiles } from './pin-images/files.ts';
import { imageReferences, withDigests } from './pin-images/references.ts';
import { currentDigest } from './pin-images/registry.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const texts = imageFiles.map((path) => ({ path, text: readFileSync(root + path, 'utf8') }));
const images = new Map(
  texts
    .flatMap(({ text }) => imageReferences(text))
    .map((image) => [`${image.name}:${image.tag}`, image]),
);
const digests = new Map<string, string>();
for (const [key, image] of images) {
  try {
    const digest = await currentDigest(image);
    digests.set(key, digest);
    console.log(`${image.digest === digest ? 'same   ' : 'renewed'} ${key}@${digest}`);
  } catch (error) {
    console.error(
      `FAILED  ${key}: ${error instanceof Error ? error.message : String(error)}. It is unchanged.`,
    );
    process.exitCode = 1;
  }
}
for (const { path, text } of texts) writeFileSync(root + path, withDigests(text, digests));
