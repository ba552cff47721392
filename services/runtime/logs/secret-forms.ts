/** Generates the forms in which a secret may appear in a log. Pure. Texts here have one character per byte
 *  (`latin1`), so that they can be compared with a process's output bytes. */

/** The minimum size of a masked value. Masking a shorter value would hide ordinary text without protecting the
 *  value. */
export const MIN_MASKED_BYTES = 4;
/** Lines of a multi-line secret are also searched for separately, because a program may add a prefix to each line. */
const MIN_LINE_BYTES = 16;
/** Long forms are searched for in pieces to limit the search time. */
const MAX_PIECE_LENGTH = 128;

/** Returns the forms of a value: plain, URL-encoded, and escaped for JSON, Python and HTML. Long forms are cut into
 *  pieces. `EncodedSecrets` finds base64 and hexadecimal forms.
 *  @param value without surrounding white space, at least `MIN_MASKED_BYTES` long */
export function formsOf(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const long = lines.filter((line) => lines.length > 1 && line.length >= MIN_LINE_BYTES);
  const texts = [value, ...long].flatMap(escapedForms).map(latin1Of);
  return [...new Set([...texts, ...urlForms(latin1Of(value))].flatMap(inPieces))];
}

/** Returns a text with one character per byte. */
export function latin1Of(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Returns the text unescaped, escaped for JSON with and without escaped non-ASCII letters, escaped for Python, and
 *  escaped for HTML in two ways. */
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

/** Returns the text in the formats of Python's `repr`, `ascii` and `repr` of bytes. Also returns the output of a
 *  stream that replaces letters it cannot encode. `repr` escapes single quotes if the whole text contains both kinds
 *  of quotes. */
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

/** Returns the URL-encoded forms. Encoders differ in which characters they leave unescaped, how they encode spaces,
 *  and the case of hexadecimal digits. HTTP clients do not escape the reserved characters of a URL. */
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
