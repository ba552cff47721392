/** Computes the fingerprints by which errors are grouped. */
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { Exception, Frame, RaisedError } from './error.ts';

/** Returns the same text for errors with the same cause. The text contains exception types, and the function names
 *  and source lines of frames in the script's own code. If no frame is in the script's own code, the text contains
 *  all frames. It also contains the message without its values, because a library can raise different errors from
 *  the same line of the script. The message is omitted if the script raises the exception itself, because the source
 *  lines then identify the cause. The text does not depend on line numbers, values, recursion depth, or the order
 *  and number of causes. An exit, or an error without a frame in the script's own code, does not reveal its cause.
 *  Such errors match only within one script. */
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

/** Returns the distinct places in the call stack. The result depends neither on the recursion depth nor on the
 *  function in which the recursion ends. Functions that are called repeatedly are compared without source lines,
 *  except for the last call. A `RecursionError` can occur at any line, so even its last call is compared without the
 *  source line. */
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

/** Before Python 3.12, each comprehension had its own frame. These frames are ignored. */
function isCall({ function: name }: Frame): boolean {
  return !/^<(?:list|dict|set)comp>$/.test(name);
}

/** Returns the message and the missing names, or an empty list if the script raises the exception itself. */
function wordsOf({ type, message, frames, causes }: RaisedError): readonly string[] {
  const own = frames.filter((frame) => frame.own);
  const last = own.at(-1);
  if (last === undefined || type === 'RecursionError') return [];
  const isRaised = type === 'AssertionError' || raises.test(codeOf(last));
  if (isRaised && frames.at(-1) === last) return [];
  if (type === 'SystemExit' && exitsWithText.test(codeOf(last))) return [];
  // An exit without a cause is explained by the last log record. The heading of that record ends with a colon.
  const said =
    type === 'SystemExit' && causes.length === 0 ? message.replace(recordHeading, '') : message;
  return [templateOf(said), ...missingNames(type, message, own)];
}

/** Matches a statement that raises an exception, even after a condition on the same line. For a multi-line `assert`,
 *  a traceback contains only the line of the condition. Assertions are therefore recognized by their type. */
const raises = /(?:^|[:;] ?)raise\b/;
const exitsWithText = /\bexit\(.*['"]/;
/** Matches the text that precedes the log record in the message of a `SystemExit`. */
const recordHeading = /^exit code \d+: (?:[A-Z]+:(?:[\w.]+:| ))?/;
const missing: ReadonlySet<string> = new Set([
  'AttributeError',
  'ImportError',
  'ModuleNotFoundError',
  'NameError',
  'UnboundLocalError',
]);

/** Returns the names that the code uses but that do not exist. A missing key can be a value, such as a customer
 *  name, so it counts only if the script's code contains it. Names with digits may also be values. */
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

/** Returns the code without a trailing comment. */
function codeOf({ code }: Pick<Frame, 'code'>): string {
  const statement = code.replace(/("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|#.*$/gs, '$1');
  return statement.trim().replace(/\s+/g, ' ');
}

/** Returns the first line of the message without values. Text after the last colon is often a value. */
function templateOf(message: string): string {
  const [line = ''] = withoutValues(message).split('\n');
  const words = line.replace(/:[^:]*$/, '').slice(0, 200);
  // A single word is probably a value, such as a name.
  return words.trim().includes(' ') ? words : '';
}

const fileTypes =
  'avro|bak|bin|bmp|cfg|conf|csv|dat|db|docx?|env|feather|gif|gz|html?|ics|ini|jpe?g|jsonl?|lock|log|md|parquet|pdf|pickle|pkl|png|pptx?|py|sql|sqlite3?|svg|tar|tgz|tmp|toml|tsv|txt|xlsx?|xml|ya?ml|zip';

/** Patterns of values, in the order of replacement. Two words separated by one slash, such as `input/output`, are
 *  not a path. Words without digits are not identifiers. */
const values: readonly RegExp[] = [
  // URLs.
  /\b[a-z][a-z+]*:\/\/[^\s'"`]+/giu,
  // Email addresses.
  /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*/gu,
  // Absolute paths, including Windows paths and paths that begin with `./`, `../` or `~/`.
  /(?<![\w.~])\/[^\s'"`,:;)]+|(?<![\p{L}\d])[a-z]:[\\/][^\s'"`,:;)]*|(?<![\\\p{L}\d])\\\\[^\s'"`,:;)]+/giu,
  /(?<![\p{L}\d_.~/\\-])(?:\.{1,2}|~)[\\/][^\s'"`,:;)]*/gu,
  // Relative paths that contain several folders or backslashes, or that end with a file extension.
  /(?<![\p{L}\d_./\\-])(?:(?:[\p{L}\d_.-]+[\\/]){2,}[\p{L}\d_.-]*|[\p{L}\d_.-]+(?:\\[\p{L}\d_.-]+)+)/gu,
  /(?<![\p{L}\d_./\\-])[\p{L}\d_.-]+\/[\p{L}\d_-]*\.[a-z\d]{1,8}(?![\p{L}\d_-])/giu,
  new RegExp(String.raw`(?<![\p{L}\d_./\\-])[\p{L}\d_.-]+\.(?:${fileTypes})(?![\p{L}\d_-])`, 'giu'),
  // Command-line arguments in the message of `CalledProcessError`.
  /'\[[^\n]*\]'/gu,
  /'[^']*'|"[^"]*"|`[^`]*`/gu,
  /(?<![\p{L}\d])[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?![\p{L}\d])/giu,
  // IPv6 addresses, with or without brackets and a port.
  /\[?(?<![\p{L}\d_:])(?=[a-f:]*\d)(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4}(?:%\w+)?(?![\p{L}\d:])(?:\](?::\d+)?)?/giu,
  // Host names with ports. A single word with a short number is a name with a value, such as `line:12`.
  /(?<![\w.-])[\w-]+(?:(?:\.[\w-]+)+:\d{1,5}|:\d{4,5})(?![\w.])/gu,
  // Long identifiers, such as ULIDs, and hashes and numbers.
  /(?<![\p{L}\d])(?=[a-z]*\d)[a-z\d]{20,}(?![\p{L}\d])/giu,
  /(?<![\p{L}\d])(?:0x)?(?=[a-f]*\d)[\da-f]{6,}(?![\p{L}\d])/giu,
  /(?<!\b(?:exit code|HTTP Error) \d*)\d+(?:\.\d+)?/giu,
];

/** Replaces values, which differ between runs. Exit codes and HTTP status codes remain, because they identify the
 *  cause. */
function withoutValues(message: string): string {
  const start = message.slice(0, 2000);
  const words = values.reduce((text, value) => text.replace(value, '?'), start);
  return words.replace(/[?][\s,.:;-]*(?=[?])/g, '');
}
