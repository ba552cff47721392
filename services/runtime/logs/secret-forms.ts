/** The forms in which a secret may turn up in a log. Pure. Texts here have one character a byte
 *  (`latin1`), so that they can be looked for in the bytes of a process. */

/** Values of fewer bytes are not masked: they would blank out ordinary text, and hide nothing. */
export const MIN_MASKED_BYTES = 4;
/** A line of a longer secret is looked for by itself too, as where something is put before each. */
const MIN_LINE_BYTES = 16;
/** Long forms are looked for in pieces, so that no text takes long to search. */
const MAX_PIECE_LENGTH = 128;

/** What a value may look like: plain, URL-encoded, and with the escapes of JSON, Python and HTML; long ones in
 *  pieces. Base64 and hexadecimal are found by `EncodedSecrets`.
 *  @param value without white space around it, of `MIN_MASKED_BYTES` at least */
export function formsOf(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const long = lines.filter((line) => lines.length > 1 && line.length >= MIN_LINE_BYTES);
  const texts = [value, ...escapedForms(value), ...long].map(latin1Of);
  return [...new Set([...texts, ...urlForms(latin1Of(value))].flatMap(inPieces))];
}

/** A text with one character for each of its bytes. */
export function latin1Of(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** JSON with letters beyond ASCII as they are, or not; bytes as Python shows them; HTML with two ways to quote. */
function escapedForms(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const html = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = html.replaceAll('"', '&quot;');
  return [
    json,
    json.replace(/[\u0080-\uffff]/g, (one) => `\\u${hex(one.charCodeAt(0), 4)}`),
    latin1Of(json).replace(/[\u0080-\u00ff]/g, (one) => `\\x${hex(one.charCodeAt(0), 2)}`),
    html,
    quoted.replaceAll("'", '&#x27;'),
    quoted.replaceAll("'", '&#39;'),
  ];
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

/** Encoders differ in what they leave as it is, in how they write a space, and in the case of digits. */
function urlForms(latin1: string): readonly string[] {
  const unreserved = [/[A-Za-z0-9_.~-]/, /[A-Za-z0-9_.~/-]/, /[A-Za-z0-9_.~!'()*-]/];
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
