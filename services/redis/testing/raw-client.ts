/** A test client that sends raw bytes and parses raw replies. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A parsed reply as plain values. An error is its text after `-`. A push message is marked by `>`. */
export type Value = string | number | null | readonly Value[] | ReadonlyMap<Value, Value>;

export class RawClient {
  readonly socket: Socket;
  #buffered = Buffer.alloc(0);
  #told: () => void = () => undefined;
  #isClosed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      this.#buffered = Buffer.concat([this.#buffered, bytes]);
      this.#told();
    });
    socket.on('close', () => {
      this.#isClosed = true;
      this.#told();
    });
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  /** Sends bytes unchanged. */
  send(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  /** Sends a command and reads its reply. */
  async call(...words: readonly (string | Buffer)[]): Promise<Value> {
    this.send(command(words));
    return await this.reply();
  }

  /** Reads the next reply. @throws if the connection ends first */
  async reply(): Promise<Value> {
    for (;;) {
      const read = decode(this.#buffered, 0);
      if (read !== undefined) {
        this.#buffered = this.#buffered.subarray(read.end);
        return read.value;
      }
      if (this.#isClosed) throw new Error('the connection has ended');
      await new Promise<void>((resolve) => (this.#told = resolve));
    }
  }

  /** Waits until the connection has ended. @returns the data that arrived before */
  async rest(): Promise<string> {
    while (!this.#isClosed) await new Promise<void>((resolve) => (this.#told = resolve));
    return this.#buffered.toString('latin1');
  }

  close(): void {
    this.socket.destroy();
  }
}

export function command(words: readonly (string | Buffer)[]): Buffer {
  const parts = words.flatMap((word) => {
    const bytes = Buffer.from(word);
    return [Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n')];
  });
  return Buffer.concat([Buffer.from(`*${words.length}\r\n`), ...parts]);
}

interface Read {
  readonly value: Value;
  readonly end: number;
}

function decode(bytes: Buffer, start: number): Read | undefined {
  const lineEnd = bytes.indexOf('\r\n', start);
  if (lineEnd === -1) return undefined;
  const line = bytes.toString('utf8', start + 1, lineEnd);
  const end = lineEnd + 2;
  switch (String.fromCodePoint(bytes[start] ?? 0)) {
    case '+':
      return { value: line, end };
    case '-':
      return { value: `-${line}`, end };
    case ':':
      return { value: Number(line), end };
    case '_':
      return { value: null, end };
    case '$':
    case '=': {
      const length = Number(line);
      if (length < 0) return { value: null, end };
      if (bytes.length < end + length + 2) return undefined;
      return { value: bytes.toString('utf8', end, end + length), end: end + length + 2 };
    }
    case '*':
    case '~':
      return Number(line) < 0 ? { value: null, end } : list(bytes, end, Number(line));
    case '>': {
      const read = list(bytes, end, Number(line));
      return read && { value: ['>', ...(read.value as readonly Value[])], end: read.end };
    }
    case '%': {
      const read = list(bytes, end, Number(line) * 2);
      if (read === undefined) return undefined;
      const flat = read.value as readonly Value[];
      const pairs = flat.flatMap((key, index) =>
        index % 2 === 0 ? [[key, flat[index + 1] ?? null] as const] : [],
      );
      return { value: new Map(pairs), end: read.end };
    }
    default:
      throw new Error(`not a reply: ${bytes.toString('latin1', start, lineEnd)}`);
  }
}

function list(bytes: Buffer, start: number, count: number): Read | undefined {
  const values: Value[] = [];
  let end = start;
  for (let index = 0; index < count; index += 1) {
    const read = decode(bytes, end);
    if (read === undefined) return undefined;
    values.push(read.value);
    end = read.end;
  }
  return { value: values, end };
}
