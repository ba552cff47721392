/** Groups errors by cause. */
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { Exception, Frame, RaisedError } from './error.ts';

/** Returns the same text for errors with the same cause. The text does not depend on line numbers, values, the depth of
 *  a recursion, or the order and number of causes. It contains the types, and the function names and source lines of
 *  the frames in the script's own code. If no frame is in the script's own code, it contains all frames.
 *  It contains the message without its values, because a library can raise different errors at the same line of the
 *  script. It omits the message if the script raises the exception itself, because its source lines then say enough.
 *  Exits, and errors without a frame in the script's own code, do not show their cause, so they match only within
 *  one script. */
export function fingerprintOf(error: RaisedError, scriptId: ScriptId): string {
  const own = JSON.stringify([...partsOf(error), ...wordsOf(error)]);
  const causes = error.causes.map((one) => JSON.stringify(partsOf(one)));
  const namesCause = error.type !== 'SystemExit' && error.frames.some((frame) => frame.own);
  const parts = new Set([own, ...causes.toSorted()]);
  return JSON.stringify([...parts, ...(namesCause ? [] : [scriptId])]);
}

function partsOf({ type, message, frames }: Exception): readonly unknown[] {
  const own = frames.filter((frame) => frame.own);
  const places = placesOf(type, (own.length > 0 ? own : frames).filter(isCall));
  if (places.size === 0) return [type, withoutValues(message).slice(0, 200)];
  return [type, ...places];
}

/** Neither the depth of a recursion nor the function in which it ends changes the result. Functions that are called
 *  repeatedly are compared without their lines; only the last call is compared with its line. A `RecursionError` can
 *  occur at any line. */
function placesOf(type: string, calls: readonly Frame[]): ReadonlySet<string> {
  const names = calls.map(({ file, function: name }) => `${file} ${name}`);
  const repeats = (name: string) => names.indexOf(name) !== names.lastIndexOf(name);
  const isEndless = type === 'RecursionError' && names.some(repeats);
  const last = isEndless ? names.findLastIndex(repeats) : names.length - 1;
  const places = calls.slice(0, last + 1).flatMap((frame, index) => {
    const name = names[index] ?? '';
    if (index === last ? !isEndless : !repeats(name)) return [placeOf(frame)];
    return isEndless || name !== names[last] ? [name] : [];
  });
  return new Set(places);
}

/** Before Python 3.12, a comprehension has its own frame, which is ignored. */
function isCall({ function: name }: Frame): boolean {
  return !/^<(?:list|dict|set)comp>$/.test(name);
}

/** The message and the missing names, unless the script raises the exception itself. */
function wordsOf({ type, message, frames, causes }: RaisedError): readonly string[] {
  const own = frames.filter((frame) => frame.own);
  const last = own.at(-1);
  if (last === undefined || type === 'RecursionError') return [];
  const isRaised = type === 'AssertionError' || raises.test(codeOf(last));
  if (isRaised && frames.at(-1) === last) return [];
  if (type === 'SystemExit' && exitsWithText.test(codeOf(last))) return [];
  // The last record explains an exit without another cause. Its heading ends with a colon.
  const said =
    type === 'SystemExit' && causes.length === 0 ? message.replace(recordHeading, '') : message;
  return [templateOf(said), ...missingNames(type, message, own)];
}

/** A statement that raises an exception, also after a condition on the same line. The line of a multi-line `assert`
 *  in a traceback is the line of its condition, so assertions are recognized by their type. */
const raises = /(?:^|[:;] ?)raise\b/;
const exitsWithText = /\bexit\(.*['"]/;
/** Precedes the message of the log record in the message of an exit. */
const recordHeading = /^exit code \d+: (?:[A-Z]+:(?:[\w.]+:| ))?/;
const missing: ReadonlySet<string> = new Set([
  'AttributeError',
  'ImportError',
  'ModuleNotFoundError',
  'NameError',
  'UnboundLocalError',
]);

/** The names in the script's code that do not exist. A missing key can be a value, such as the name of a customer, so it
 *  counts only if a line of the script contains it. Names with digits can be values too. */
function missingNames(type: string, message: string, own: readonly Frame[]): readonly string[] {
  if (type === 'KeyError') {
    const [, key] = /^'([a-z_][a-z_.]*)'$/i.exec(message) ?? [];
    const isInCode = own.some(({ code }) => code.includes(`'${key}'`) || code.includes(`"${key}"`));
    return key !== undefined && isInCode ? [key] : [];
  }
  if (!missing.has(type)) return [];
  const [sentence = ''] = message.slice(0, 2000).split('. Did you ');
  const names = sentence.matchAll(/\b(?:attribute|name|named|variable) '([a-z_][a-z_.]*)'/gi);
  return [...names].map(([, name = '']) => name);
}

function placeOf({ file, function: name, code }: Frame): string {
  return `${file} ${name} ${codeOf({ code })}`;
}

/** The code without a trailing comment. */
function codeOf({ code }: Pick<Frame, 'code'>): string {
  const statement = code.replace(/("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|#.*$/gs, '$1');
  return statement.trim().replace(/\s+/g, ' ');
}

/** The first line of the message without values. Text after the last colon is often a value. */
function templateOf(message: string): string {
  const [line = ''] = withoutValues(message).split('\n');
  const words = line.replace(/:[^:]*$/, '').slice(0, 200);
  // A single word is a value, such as a name.
  return words.trim().includes(' ') ? words : '';
}

const fileTypes =
  'avro|bak|bin|bmp|cfg|conf|csv|dat|db|docx?|env|feather|gif|gz|html?|ics|ini|jpe?g|jsonl?|lock|log|md|parquet|pdf|pickle|pkl|png|pptx?|py|sql|sqlite3?|svg|tar|tgz|tmp|toml|tsv|txt|xlsx?|xml|ya?ml|zip';

/** Values in the order in which they are replaced. Two words with one slash between them, such as `input/output`, are
 *  not a path, and words without a digit are not an identifier. */
const values: readonly RegExp[] = [
  // URLs.
  /\b[a-z][a-z+]*:\/\/[^\s'"`]+/giu,
  // E-mail addresses.
  /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*/gu,
  // Absolute paths, including Windows paths, and paths that begin with `./`, `../` or `~/`.
  /(?<![\w.~])\/[^\s'"`,:;)]+|(?<![\p{L}\d])[a-z]:[\\/][^\s'"`,:;)]*|(?<![\\\p{L}\d])\\\\[^\s'"`,:;)]+/giu,
  /(?<![\p{L}\d_.~/\\-])(?:\.{1,2}|~)[\\/][^\s'"`,:;)]*/gu,
  // Relative paths with several folders, with backslashes, or to a file with an extension.
  /(?<![\p{L}\d_./\\-])(?:(?:[\p{L}\d_.-]+[\\/]){2,}[\p{L}\d_.-]*|[\p{L}\d_.-]+(?:\\[\p{L}\d_.-]+)+)/gu,
  /(?<![\p{L}\d_./\\-])[\p{L}\d_.-]+\/[\p{L}\d_-]*\.[a-z\d]{1,8}(?![\p{L}\d_-])/giu,
  new RegExp(String.raw`(?<![\p{L}\d_./\\-])[\p{L}\d_.-]+\.(?:${fileTypes})(?![\p{L}\d_-])`, 'giu'),
  // Arguments of a command in the message of `CalledProcessError`.
  /'\[[^\n]*\]'/gu,
  /'[^']*'|"[^"]*"|`[^`]*`/gu,
  /(?<![\p{L}\d])[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?![\p{L}\d])/giu,
  // IPv6 addresses, with brackets and a port.
  /\[?(?<![\p{L}\d_:])(?=[a-f:]*\d)(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4}(?:%\w+)?(?![\p{L}\d:])(?:\](?::\d+)?)?/giu,
  // Host names with ports. A single word with a short number is a name with its value, such as `line:12`.
  /(?<![\w.-])[\w-]+(?:(?:\.[\w-]+)+:\d{1,5}|:\d{4,5})(?![\w.])/gu,
  // ULIDs and other long identifiers, hashes, and numbers.
  /(?<![\p{L}\d])(?=[a-z]*\d)[a-z\d]{20,}(?![\p{L}\d])/giu,
  /(?<![\p{L}\d])(?:0x)?(?=[a-f]*\d)[\da-f]{6,}(?![\p{L}\d])/giu,
  /(?<!\b(?:exit code|HTTP Error) \d*)\d+(?:\.\d+)?/giu,
];

/** Values differ from run to run. Exit codes and status codes of HTTP have a meaning. */
function withoutValues(message: string): string {
  const start = message.slice(0, 2000);
  const words = values.reduce((text, value) => text.replace(value, '?'), start);
  return words.replace(/[?][\s,.:;-]*(?=[?])/g, '');
}
