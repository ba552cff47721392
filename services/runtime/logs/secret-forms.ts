/** The forms in which a secret may appear in a log. Pure. Texts here have one character per byte
 *  (`latin1`), so that they can be searched in the bytes of a process. */

/** The minimum size of masked values. Masking a shorter value would hide ordinary text and not protect the value. */
export const MIN_MASKED_BYTES = 4;
/** Lines of a multi-line secret are also searched separately, because a program may prefix each. */
const MIN_LINE_BYTES = 16;
/** Long forms are searched in pieces, which limits the search time of any text. */
const MAX_PIECE_LENGTH = 128;

/** The forms of a value: plain, URL-encoded, and with the escapes of JSON, Python and HTML. Long forms are cut into
 *  pieces. `EncodedSecrets` finds base64 and hexadecimal.
 *  @param value without surrounding white space, of at least `MIN_MASKED_BYTES` */
export function formsOf(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const long = lines.filter((line) => lines.length > 1 && line.length >= MIN_LINE_BYTES);
  const texts = [value, ...long].flatMap(escapedForms).map(latin1Of);
  return [...new Set([...texts, ...urlForms(latin1Of(value))].flatMap(inPieces))];
}

/** A text with one character per byte. */
export function latin1Of(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** The text as it is, and with escapes: in JSON with and without escaped non-ASCII letters, in Python, and in HTML with
 *  two ways to quote. */
function escapedForms(text: string): readonly string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const html = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = html.replaceAll('"', '&quot;');
  return [
    text,
    json,
    json.replace(/[\u007f-\uffff]/g, (one) => `\\u${hex(one.charCodeAt(0), 4)}`),
    ...pythonForms(text),
    html,
    quoted.replaceAll("'", '&#x27;'),
    quoted.replaceAll("'", '&#39;'),
  ];
}

/** The text in Python's `repr`, `ascii` and `repr` of bytes, and in a stream that replaces letters which it cannot
 *  encode. `repr` escapes single quotes if the whole text has both kinds of quotes. */
function pythonForms(text: string): readonly string[] {
  const forms = [
    text.replace(notPrintable, pythonEscape),
    text.replace(notAscii, pythonEscape),
    latin1Of(text).replace(notAscii, pythonEscape),
  ];
  const quoted = forms.map((form) => form.replaceAll("'", String.raw`\'`));
  return [...forms, ...quoted, text.replace(/[\u0080-\u{10ffff}]/gu, pythonEscape)];
}

const notPrintable = /(?! )[\\\p{C}\p{Z}]/gu;
const notAscii = /[^ -[\]-~]/gu;
const shortEscapes: Readonly<Record<string, string>> = {
  '\\': String.raw`\\`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
};

function pythonEscape(one: string): string {
  const code = one.codePointAt(0) ?? 0;
  const [letter, digits] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : ['U', 8];
  return shortEscapes[one] ?? `\\${letter}${hex(code, Number(digits))}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

/** The URL-encoded forms. Encoders differ in the characters that they leave unescaped, in the encoding of spaces, and
 *  in the case of digits. HTTP clients do not escape the reserved characters of a URL. */
function urlForms(latin1: string): readonly string[] {
  const unreserved = [
    /[A-Za-z0-9_.~-]/,
    /[A-Za-z0-9_.~/-]/,
    /[A-Za-z0-9_.~!'()*-]/,
    /[A-Za-z0-9_.~!'()*#$&+,/:;=?@[\]-]/,
    /[A-Za-z0-9_.~!'()*#$&+,/:;=?@[\]%-]/,
  ];
  return unreserved.flatMap((kept) => {
    const encoded = latin1.replace(/[^]/g, (one) =>
      kept.test(one) ? one : `%${hex(one.charCodeAt(0), 2).toUpperCase()}`,
    );
    const lower = encoded.replace(/%../g, (one) => one.toLowerCase());
    return [encoded, lower].flatMap((form) => [form, form.replaceAll('%20', '+')]);
  });
}

function inPieces(form: string): readonly string[] {
  const count = Math.ceil(form.length / MAX_PIECE_LENGTH);
  const length = Math.ceil(form.length / count);
  return Array.from({ length: count }, (_, index) =>
    form.slice(index * length, (index + 1) * length),
  );
}
