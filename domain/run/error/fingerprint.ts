/** Which errors are the same one. */
import type { Exception, Frame, RaisedError } from './error.ts';

/** A text that two errors share when they have the same cause. It has what stays when lines move and values
 *  change: the types, the places in the script's own code, and the code there. Where no own code is named, the
 *  other places count, and where there is none, the message without its values. */
export function fingerprintOf(error: RaisedError): string {
  return JSON.stringify([error, ...error.causes].map(partsOf));
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

/** A recursion is the same one however deep it went. */
function withoutRepeats(places: readonly string[]): readonly string[] {
  return places.filter((one, index) => one !== places[index - 1]);
}

/** Numbers, quoted text and identifiers differ from run to run. */
function withoutValues(message: string): string {
  return message
    .replace(/'[^']*'|"[^"]*"/g, '?')
    .replace(/\b(?:0x)?[\da-f]{6,}\b|\d+(?:\.\d+)?/gi, '?')
    .replace(/[?][\s,.:;-]*(?=[?])/g, '')
    .slice(0, 200);
}
