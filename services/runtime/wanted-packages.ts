/** What a script asks to have installed: its `requirements.txt`, or else what its entrypoint says of itself
 *  (PEP 723). */
import { readFile } from 'node:fs/promises';
import { readInlineMetadata } from './environments/inline-metadata.ts';
import { isWantedPython } from './environments/python-versions.ts';
import type { RunFile } from './sandbox/sandbox.ts';

export type WantedPackages =
  /** In the form of a `requirements.txt`; empty for none. */
  | { readonly requirements: string }
  /** Why there can be no environment, for the script's author. */
  | { readonly problem: string };

/** @param pythonVersion of the interpreter that the run is to have, such as `3.12.1` */
export async function wantedPackages(
  files: readonly RunFile[],
  entrypoint: string,
  pythonVersion: string,
): Promise<WantedPackages> {
  const listed = await textOf(files, 'requirements.txt');
  if (listed !== undefined) return { requirements: listed };
  const metadata = readInlineMetadata((await textOf(files, entrypoint)) ?? '', entrypoint);
  switch (metadata.status) {
    case 'none':
      return { requirements: '' };
    case 'invalid':
      return { problem: metadata.problem };
    case 'found':
      return (
        pythonProblem(metadata.requiresPython, pythonVersion, entrypoint) ?? {
          requirements: metadata.requirements,
        }
      );
  }
}

function pythonProblem(
  wanted: string | undefined,
  version: string,
  entrypoint: string,
): { readonly problem: string } | undefined {
  const isWanted = wanted === undefined ? true : isWantedPython(wanted, version);
  if (isWanted === true) return undefined;
  const says = `${entrypoint} says requires-python = "${wanted}"`;
  return isWanted === undefined
    ? { problem: `${says}, which cannot be read.` }
    : { problem: `${says}, but its interpreter is Python ${version}: set "python" of the script.` };
}

async function textOf(files: readonly RunFile[], path: string): Promise<string | undefined> {
  const file = files.find((one) => one.path === path);
  return file && (await readFile(file.source, 'utf8'));
}
