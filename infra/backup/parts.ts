/** The list of all members of a backup's archive (`parts.txt`), in archive order. Each line holds the SHA-256, the size
 *  in bytes and the name of one member. */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { Damage } from './damaged.ts';

export interface ListedPart {
  readonly name: string;
  readonly sizeBytes: number;
  /** SHA-256 in lower-case hex. */
  readonly sha256: string;
}

const linePattern = /^([0-9a-f]{64}) {2}(0|[1-9]\d{0,15}) {2}(.+)$/;
/** An object key has at most 1024 bytes. */
const maxLineChars = 2_048;

/** A list of parts that is written while the archive is written. Only unread lines stay in memory. */
export class PartList {
  readonly #lines = new PassThrough();

  constructor() {
    this.#lines.on('error', () => undefined); // the reader or the writer throws the error
  }

  get chunks(): AsyncIterable<Uint8Array> {
    return this.#lines;
  }

  /** Adds a line.
   *  @throws Error if the reader has stopped */
  async add({ sha256, sizeBytes, name }: ListedPart): Promise<void> {
    const isTaken = this.#lines.write(`${sha256}  ${sizeBytes}  ${name}\n`);
    if (!isTaken) await Promise.race([once(this.#lines, 'drain'), once(this.#lines, 'close')]);
    if (this.#lines.destroyed) throw new Error('the list of parts can no longer be written');
  }

  end(): void {
    this.#lines.end();
  }

  /** Makes the reader throw this error. */
  fail(error: Error): void {
    this.#lines.destroy(error);
  }
}

/** Parses the lines of a list of parts.
 *  @throws Damage if a line is invalid */
export async function* readPartList(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ListedPart> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield partOf(line);
    if (rest.length > maxLineChars) throw new Damage('a line is too long');
  }
  if (rest !== '') throw new Damage('it is truncated');
}

function partOf(line: string): ListedPart {
  const [, sha256, size, name] = linePattern.exec(line) ?? [];
  if (sha256 === undefined || name === undefined) throw new Damage('a line was changed');
  return { sha256, sizeBytes: Number(size), name };
}
