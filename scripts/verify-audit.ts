/** Verifies an export of the audit trail without the server (docs/audit.md). This file needs no packages, and runs with
 *  Node.js 22.18 or later:
 *
 *     node verify-audit.ts EXPORT [--key PUBLIC.pem]… [--head HEAD]…
 *
 *  EXPORT is an NDJSON or CSV file from `GET /audit/export`, or `-` for standard input. HEAD is `<audit_seq>:<hash>`,
 *  or a JSON file of heads from `GET /audit/heads`. The exit code is 0 if the export is valid, 1 if it is broken, and 2
 *  if it cannot be verified. */
import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

interface Entry {
  readonly audit_seq: number;
  readonly prev_hash: string;
  readonly hash: string;
  readonly withheld?: boolean;
}

interface Head {
  readonly audit_seq: number;
  readonly hash: string;
  readonly time?: string;
  readonly key_id?: string;
  readonly signature?: string;
}

/** The export differs from the original audit log. */
class Broken extends Error {}
/** The input cannot be verified. */
class Unusable extends Error {}

const zeros = '0'.repeat(64);

/** Serializes JSON with members sorted by name. For the types of values in audit entries, this matches RFC 8785. */
function canonical(value: object): string {
  return JSON.stringify(value, Object.keys(value).toSorted());
}

function hashOf({ hash: _, ...entry }: Entry & { event_position?: number }): string {
  const { event_position: _position, ...hashed } = entry;
  return createHash('sha256').update(canonical(hashed)).digest('hex');
}

/** Streams the rows of a CSV file (RFC 4180). */
async function* rowsOf(chunks: AsyncIterable<string>): AsyncGenerator<readonly string[], void> {
  let [row, cell, isQuoted, wasQuote]: [string[], string, boolean, boolean] = [
    [],
    '',
    false,
    false,
  ];
  for await (const chunk of chunks) {
    for (const character of chunk) {
      if (isQuoted && character !== '"') cell += character;
      else if (character === '"') {
        if (!isQuoted && wasQuote) cell += '"';
        wasQuote = isQuoted;
        isQuoted = !isQuoted;
        continue;
      } else if (character === ',') {
        row.push(cell);
        cell = '';
      } else if (character === '\n') {
        yield [...row, cell];
        [row, cell] = [[], ''];
      } else if (character !== '\r') cell += character;
      wasQuote = false;
    }
  }
  if (row.length > 0 || cell !== '') yield [...row, cell];
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string, void> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

type Item = Entry | { readonly head: Head | null };

async function* itemsOf(chunks: AsyncIterable<string>): AsyncGenerator<Item, void> {
  const { first, all } = await peeked(chunks);
  if (first.startsWith('audit_seq,')) {
    yield* csvItems(all);
    return;
  }
  for await (const line of linesOf(all)) if (line.trim() !== '') yield parsed(line);
}

async function* csvItems(chunks: AsyncIterable<string>): AsyncGenerator<Item, void> {
  let names: readonly string[] | undefined;
  for await (const row of rowsOf(chunks)) {
    const [first = ''] = row;
    if (names === undefined) names = row;
    else if (row.length === 1 && first.startsWith('# ')) yield parsed(first.slice(2));
    else {
      const values = names.map((name, index) => [name, valueOf(name, row[index] ?? '')] as const);
      const entry = Object.fromEntries(values) as unknown as Entry & { event_id: string | null };
      yield entry.event_id === null ? { ...entry, withheld: true } : entry;
    }
  }
}

function valueOf(name: string, cell: string): string | number | null {
  if (cell === '') return null;
  if (name === 'audit_seq' || name === 'event_position') return Number(cell);
  return cell.startsWith("'") ? cell.slice(1) : cell;
}

async function peeked(chunks: AsyncIterable<string>) {
  const source = chunks[Symbol.asyncIterator]();
  const start = await source.next();
  const first = start.done === true ? '' : start.value;
  async function* all(): AsyncGenerator<string, void> {
    yield first;
    yield* { [Symbol.asyncIterator]: () => source };
  }
  return { first, all: all() };
}

function parsed(text: string): Item {
  try {
    return JSON.parse(text) as Item;
  } catch (cause) {
    throw new Unusable(`not a line from an export: ${text.slice(0, 80)}`, { cause });
  }
}

type Keys = ReadonlyMap<string, KeyObject>;

function keyOf(path: string): readonly [string, KeyObject] {
  const key = createPublicKey(readFileSync(path));
  const raw = key.export({ format: 'der', type: 'spki' }).subarray(-32);
  return [createHash('sha256').update(raw).digest('hex').slice(0, 16), key];
}

/** @returns whether a key for verifying the signature was available
 *  @throws Broken if the signature is invalid */
function isSigned({ signature, ...head }: Head, keys: Keys): boolean {
  const key = keys.get(head.key_id ?? '');
  if (key === undefined || signature === undefined) return false;
  const { audit_seq, hash, key_id, time } = head;
  const bytes = Buffer.from(canonical({ audit_seq, hash, key_id, time }));
  if (verify(null, bytes, key, Buffer.from(signature, 'base64'))) return true;
  throw new Broken(`the head of entry ${audit_seq} is not signed by ${key_id}`);
}

function headsIn(text: string): readonly Head[] {
  const named = /^([1-9]\d*):([0-9a-f]{64})$/.exec(text);
  if (named) return [{ audit_seq: Number(named[1]), hash: named[2] ?? '' }];
  if (!existsSync(text)) throw new Unusable(`neither <audit_seq>:<hash> nor a file: ${text}`);
  const content = JSON.parse(readFileSync(text, 'utf8')) as
    | { items?: Head[]; head?: Head }
    | Head[];
  if (Array.isArray(content)) return content;
  return content.items ?? [content.head ?? (content as unknown as Head)];
}

interface Report {
  readonly entries: number;
  readonly withheld: number;
  readonly remarks: readonly string[];
}

/** @throws Broken at the first difference */
async function check(
  chunks: AsyncIterable<string>,
  saved: readonly Head[],
  keys: Keys,
): Promise<Report> {
  const bySeq = Map.groupBy(saved, (head) => head.audit_seq);
  const remarks: string[] = [];
  let [entries, withheld]: [number, number] = [0, 0];
  let last: Entry | undefined;
  let end: Head | null | undefined;
  for await (const item of itemsOf(chunks)) {
    if ('head' in item) {
      end = item.head;
      continue;
    }
    const { audit_seq: seq, hash, prev_hash: before } = item;
    if (last === undefined) remarks.push(...beginning(item, bySeq));
    else if (seq !== last.audit_seq + 1) throw new Broken(`entry ${last.audit_seq + 1} is missing`);
    else if (before !== last.hash)
      throw new Broken(`entry ${seq} does not follow the previous entry`);
    if (item.withheld) withheld += 1;
    else if (hashOf(item) !== hash)
      throw new Broken(`the content of entry ${seq} does not match its hash`);
    for (const head of bySeq.get(seq) ?? []) {
      if (head.hash !== hash) throw new Broken(`the saved head of entry ${seq} differs`);
    }
    last = item;
    entries += 1;
  }
  if (end === undefined)
    throw new Broken('the head at the end is missing: the export was truncated');
  if (end !== null && (last?.audit_seq !== end.audit_seq || last.hash !== end.hash)) {
    throw new Broken(
      `the head refers to entry ${end.audit_seq}, but the last entry is ${last?.audit_seq ?? 'none'}`,
    );
  }
  const later = saved.find((head) => head.audit_seq > (last?.audit_seq ?? 0));
  if (later) throw new Broken(tooLate(later, last, end));
  const unchecked = [...(end ? [end] : []), ...saved].filter((head) => !isSigned(head, keys));
  for (const head of unchecked) {
    remarks.push(`the signature of the head of entry ${head.audit_seq} was not checked: no key`);
  }
  return { entries, withheld, remarks };
}

/** Returns the message about a saved head that is newer than the export. The files alone do not show whether entries at
 *  the end were removed, or whether entries were added after the export. */
function tooLate(saved: Head, last: Entry | undefined, end: Head | null): string {
  const ends = `the export ends at entry ${last?.audit_seq ?? 0}`;
  const isYounger = (saved.time ?? '') > (end?.time ?? saved.time ?? '');
  return isYounger
    ? `the saved head of entry ${saved.audit_seq} (${saved.time}) is newer than the export: ${ends} (${end?.time}). ` +
        'Export again; if the entry is still absent, the export was truncated'
    : `${ends}, before the saved head of entry ${saved.audit_seq}: the export was truncated`;
}

/** Checks the first entry of the export against saved heads.
 *  @returns remarks about what could not be verified */
function beginning(first: Entry, saved: ReadonlyMap<number, readonly Head[]>): readonly string[] {
  const { audit_seq: seq, prev_hash: before } = first;
  if (seq === 1 && before !== zeros)
    throw new Broken('the previous hash of the first entry is not zero');
  if (seq === 1) return [];
  const heads = saved.get(seq - 1) ?? [];
  if (heads.some(({ hash }) => hash !== before)) {
    throw new Broken(`entry ${seq} does not follow the saved head of entry ${seq - 1}`);
  }
  return heads.length > 0 ? [] : [`it begins at entry ${seq}: what came before was not checked`];
}

/** Prints the result.
 *  @returns the exit code */
async function main(args: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        key: { type: 'string', multiple: true },
        head: { type: 'string', multiple: true },
      },
    });
    const [path] = positionals;
    if (path === undefined || positionals.length > 1) {
      throw new Unusable('usage: verify-audit.ts EXPORT [--key PUBLIC.pem]… [--head HEAD]…');
    }
    const input = path === '-' ? process.stdin.setEncoding('utf8') : createReadStream(path, 'utf8');
    const keys = new Map((values.key ?? []).map(keyOf));
    const report = await check(input, (values.head ?? []).flatMap(headsIn), keys);
    const { entries, withheld, remarks } = report;
    for (const remark of remarks) console.log(`note: ${remark}`);
    console.log(`valid: ${entries} entries${withheld > 0 ? `, ${withheld} withheld` : ''}`);
    return 0;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    console.log(error instanceof Broken ? `BROKEN: ${text}` : `cannot be checked: ${text}`);
    return error instanceof Broken ? 1 : 2;
  }
}

process.exitCode = await main(process.argv.slice(2));
