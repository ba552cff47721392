/** The forms in which a secret may turn up in a log. Pure. Texts here have one character a byte
 *  (`latin1`), so that they can be looked for in the bytes of a process. */

/** Values of fewer bytes are not masked: they would blank out ordinary text, and hide nothing. */
export const MIN_MASKED_BYTES = 4;
/** A line of a longer secret is looked for by itself too, as where something is put before each. */
const MIN_LINE_BYTES = 16;
const MIN_CORE_LENGTH = 6;
/** Long forms are looked for in pieces, so that no text takes long to search. */
const MAX_PIECE_LENGTH = 128;

/** What a value may look like: plain, in base64 wherever it begins, URL-encoded, and in JSON; long ones
 *  in pieces. White space around it does not count. */
export function formsOf(value: string): readonly string[] {
  const plain = value.trim();
  const bytes = Buffer.from(plain);
  if (bytes.length < MIN_MASKED_BYTES) return [];
  const lines = plain.split(/\r?\n/).map((line) => line.trim());
  const long = lines.filter((line) => lines.length > 1 && line.length >= MIN_LINE_BYTES);
  const texts = [plain, JSON.stringify(plain).slice(1, -1), ...long].map((text) =>
    Buffer.from(text).toString('latin1'),
  );
  const forms = new Set([...texts, ...base64Forms(bytes), ...urlForms(texts[0] ?? '')]);
  return [...new Set([...forms].flatMap(inPieces))];
}

/** Inside a longer text the characters that share bits with what is before or behind it differ: what
 *  is between them is looked for, for each of the three ways in which it can lie. */
function base64Forms(bytes: Buffer): readonly string[] {
  const cores = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url');
    const bits = (before + bytes.length) * 8;
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
  });
  const inUrls = [
    bytes.toString('base64url'),
    ...cores.filter((one) => one.length >= MIN_CORE_LENGTH),
  ];
  const plain = inUrls.map((text) => text.replaceAll('-', '+').replaceAll('_', '/'));
  return [...inUrls, ...plain, bytes.toString('base64')];
}

/** Encoders differ in what they leave as it is, in how they write a space, and in the case of digits. */
function urlForms(latin1: string): readonly string[] {
  const unreserved = [/[A-Za-z0-9_.~-]/, /[A-Za-z0-9_.~/-]/, /[A-Za-z0-9_.~!'()*-]/];
  return unreserved.flatMap((kept) => {
    const encoded = latin1.replace(/[^]/g, (one) =>
      kept.test(one) ? one : `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
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
