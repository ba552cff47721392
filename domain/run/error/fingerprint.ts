/** Groups errors by cause. */
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { Exception, Frame, RaisedError } from './error.ts';

/** Returns the same text for errors with the same cause. The text does not depend on line numbers, values or the number
 *  of equal causes. It contains the types, and the function names and source lines of the frames in the script's own
 *  code. If no frame is in the script's own code, it contains all frames. Without frames, it contains the message
 *  without its values. Exits, and errors without a frame in the script's own code, do not show the cause. They are the
 *  same only within a script. */
export function fingerprintOf(error: RaisedError, scriptId: ScriptId): string {
  const parts = [error, ...error.causes].map((one) => JSON.stringify(partsOf(one)));
  const namesCause = error.type !== 'SystemExit' && error.frames.some((frame) => frame.own);
  return JSON.stringify([...new Set(parts), ...(namesCause ? [] : [scriptId])]);
}

function partsOf({ type, message, frames }: Exception): readonly unknown[] {
  const own = frames.filter((frame) => frame.own);
  const places = withoutRepeats((own.length > 0 ? own : frames).map(placeOf));
  const where = places.length > 0 ? places : withoutValues(message);
  return [type, where];
}

function placeOf({ file, function: name, code }: Frame): string {
  return `${file} ${name} ${code.trim().replace(/\s+/g, ' ')}`;
}

/** The depth of a recursion does not matter. */
function withoutRepeats(places: readonly string[]): readonly string[] {
  return places.filter((one, index) => one !== places[index - 1]);
}

/** Numbers, quoted text and identifiers differ from run to run. Exit codes have a meaning. */
function withoutValues(message: string): string {
  return message
    .replace(/'[^']*'|"[^"]*"/g, '?')
    .replace(/\b(?:0x)?[\da-f]{6,}\b|(?<!\bexit code \d*)\d+(?:\.\d+)?/gi, '?')
    .replace(/[?][\s,.:;-]*(?=[?])/g, '')
    .slice(0, 200);
}
