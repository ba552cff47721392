/** Replaces the code in an error's frames with code from the script version. An interpreter reads the code when it
 *  reports an exception. By then, the script may have overwritten its files. */
import { readFile } from 'node:fs/promises';
import { frameText, type Frame, type RunError } from '#domain/run/error/error.ts';
import type { RunFile } from './sandbox/sandbox.ts';

/** Replaces the code in the frames.
 *  @param files the files of the version
 *  @param masked hides the run's secrets
 *  @returns the error, whose frames only contain code from the version */
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

/** Files in this folder persist between runs and do not belong to the version. */
const keptFolder = 'data/';

/** Compares only the beginning, because the code of some statements has several lines. */
function isCodeOf(line: string, code: string): boolean {
  return line === code || (/^(?:raise|assert)\b/.test(line) && code.startsWith(line));
}

/** Returns the lines of a file, or `undefined` if the file was purged or is not UTF-8. */
async function linesOf(path: string): Promise<readonly string[] | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text === undefined || text.includes('\uFFFD') ? undefined : text.split(/\r\n|\r|\n/);
}
