/** Groups errors by cause. */
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { Exception, Frame, RaisedError } from './error.ts';

/** Returns the same text for errors with the same cause. The text does not depend on line numbers, values, the depth of a
 *  recursion, or the order and number of causes. It contains the types, and the function names and source lines of the
 *  frames in the script's own code. If no frame is in the script's own code, it contains all frames. It contains the
 *  message without its values unless the script raises the exception with a text: a library raises different errors at
 *  the same line of the script. Exits, and errors without a frame in the script's own code, do not show the cause.
 *  Such errors are the same only within a script. */
export function fingerprintOf(error: RaisedError, scriptId: ScriptId): string {
  const own = JSON.stringify([...partsOf(error), ...wordsOf(error)]);
  const causes = error.causes.map((one) => JSON.stringify(partsOf(one)));
  const namesCause = error.type !== 'SystemExit' && error.frames.some((frame) => frame.own);
  const parts = new Set([own, ...causes.toSorted()]);
  return JSON.stringify([...parts, ...(namesCause ? [] : [scriptId])]);
}

function partsOf({ type, message, frames }: Exception): readonly unknown[] {
  const own = frames.filter((frame) => frame.own);
  // The depth of a recursion does not matter.
  const places = new Set((own.length > 0 ? own : frames).filter(isCall).map(placeOf));
  if (places.size === 0) return [type, withoutValues(message).slice(0, 200)];
  return [type, ...places];
}

/** Before Python 3.12, a comprehension has a frame of its own, which is ignored. */
function isCall({ function: name }: Frame): boolean {
  return !/^<(?:list|dict|set)comp>$/.test(name);
}

/** The message, unless the source line that raises the exception contains the message. */
function wordsOf({ message, frames }: Exception): readonly string[] {
  const last = frames.findLast((frame) => frame.own);
  return last === undefined || /^(?:raise|assert)\b.*['"]/.test(last.code.trim())
    ? []
    : [templateOf(message)];
}

function placeOf({ file, function: name, code }: Frame): string {
  return `${file} ${name} ${code.trim().replace(/\s+/g, ' ')}`;
}

/** The first line of the message without values. Text after the last colon is often a value. */
function templateOf(message: string): string {
  const [line = ''] = withoutValues(message.slice(0, 2000)).split('\n');
  const words = line.replace(/:[^:]*$/, '').slice(0, 200);
  // A single word is a value, such as a name.
  return words.trim().includes(' ') ? words : '';
}

/** URLs, paths, numbers, quoted text and identifiers differ from run to run. Exit codes have a meaning. */
function withoutValues(message: string): string {
  return message
    .replace(/\b[a-z][a-z+]*:\/\/[^\s'"]+|(?<![\w.])\/[^\s'",:;)]+/gi, '?')
    .replace(/'[^']*'|"[^"]*"/g, '?')
    .replace(/\b(?:0x)?[\da-f]{6,}\b|(?<!\bexit code \d*)\d+(?:\.\d+)?/gi, '?')
    .replace(/[?][\s,.:;-]*(?=[?])/g, '');
}
