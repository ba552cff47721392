/** Shortens an error's traceback and message for the run page. */
import type { ErrorFrame } from '#lib/api/types.ts';

interface TracebackPart {
  /** A single frame, or consecutive frames from packages. */
  readonly frames: readonly ErrorFrame[];
  /** How many times the script's frame is repeated directly after itself, as in a recursion. */
  readonly repeats: number;
}

/** Groups the frames of a traceback. Repetitions of a script frame form one part. Consecutive package frames also form
 *  one part, because they rarely contain the cause. */
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

/** Returns the beginning of a long text, or the whole text if it is short. */
export function startOf(text: string): string {
  const start = text.split('\n').slice(0, shownLines).join('\n').slice(0, shownCharacters);
  return start === text ? text : `${start.trimEnd().toWellFormed()} …`;
}
