/** Shortens the traceback and the message of an error for the run page. */
import type { ErrorFrame } from '#lib/api/types.ts';

interface TracebackPart {
  /** One frame, or consecutive frames of packages. */
  readonly frames: readonly ErrorFrame[];
  /** How often the frame of the script follows again directly after itself, as in a recursion. */
  readonly repeats: number;
}

/** The traceback in parts. Equal frames of the script are one part. Consecutive frames of packages are one part as well, because they
 *  rarely contain the cause. */
export function partsOf(frames: readonly ErrorFrame[]): readonly TracebackPart[] {
  const parts: { frames: ErrorFrame[]; repeats: number }[] = [];
  for (const frame of frames) {
    const last = parts.at(-1);
    const before = last?.frames.at(-1);
    if (last && before && frame.own && isEqual(before, frame)) last.repeats += 1;
    else if (last && !frame.own && !before?.own) last.frames.push(frame);
    else parts.push({ frames: [frame], repeats: 0 });
  }
  return parts;
}

function isEqual(one: ErrorFrame, other: ErrorFrame): boolean {
  return one.file === other.file && one.line === other.line && one.function === other.function;
}

const shownLines = 5;
const shownCharacters = 400;

/** The start of a long text; a short text itself. */
export function startOf(text: string): string {
  const start = text.split('\n').slice(0, shownLines).join('\n').slice(0, shownCharacters);
  return start === text ? text : `${start.trimEnd().toWellFormed()} …`;
}
