/** The code of frames as in the script's version. The interpreter reads the code only when it reports an exception, and
 *  a script can overwrite its files before that. */
import { readFile } from 'node:fs/promises';
import { frameText, type Frame, type RunError } from '#domain/run/error/error.ts';
import type { RunFile } from './sandbox/sandbox.ts';

/** @param files of the version
 *  @param masked hides the secrets of the run
 *  @returns the error, whose frames have no other code than the version */
export async function withVersionCode(
  error: RunError,
  files: readonly RunFile[],
  masked: (text: string) => string,
): Promise<RunError> {
  const frames = [error, ...error.causes].flatMap((one) => one.frames);
  const names = new Set(frames.filter(({ own }) => own).map(({ file }) => file));
  const read = files.filter(({ path }) => names.has(path) && !path.startsWith(keptFolder));
  const lines = new Map(
    await Promise.all(read.map(async ({ path, source }) => [path, await linesOf(source)] as const)),
  );
  const shown = (frame: Frame): Frame => {
    const known = frame.own && frame.code !== '' ? lines.get(frame.file) : undefined;
    if (known === undefined) return frame;
    const line = frameText(masked((known[frame.line - 1] ?? '').trim()));
    return isCodeOf(line, frame.code) ? frame : { ...frame, code: line };
  };
  const withCode = <One extends Pick<RunError, 'frames'>>(one: One): One => ({
    ...one,
    frames: one.frames.map(shown),
  });
  return { ...withCode(error), causes: error.causes.map(withCode) };
}

/** Its files belong to all runs of the script, and are older or newer than the version. */
const keptFolder = 'data/';

/** For some statements, the code contains all lines. */
function isCodeOf(line: string, code: string): boolean {
  return line === code || (/^(?:raise|assert)\b/.test(line) && code.startsWith(line));
}

/** The lines of a file; `undefined` if the file was purged or is not UTF-8. */
async function linesOf(path: string): Promise<readonly string[] | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text === undefined || text.includes('\uFFFD') ? undefined : text.split(/\r\n|\r|\n/);
}
