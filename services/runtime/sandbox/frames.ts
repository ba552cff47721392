/** The frames of a run's channel. A frame consists of a kind (one byte), a length (four bytes, big-endian) and a
 *  payload. Payloads are JSON objects, except for output, which consists of raw bytes. The other end is
 *  `python/wire/frames.py`. */

const HEADER_BYTES = 5;
const MAX_PAYLOAD_BYTES = 32 * 1024 * 1024;

/** The kinds of frames that a supervisor receives. */
export const TO_SUPERVISOR = {
  spec: 'S',
  go: 'G',
  stop: 'T',
  kill: 'K',
  heartbeat: 'H',
  probe: 'P',
} as const;

/** The kinds of frames that a supervisor sends. */
export const FROM_SUPERVISOR = {
  ready: 'r',
  stdout: 'o',
  stderr: 'e',
  sample: 's',
  exit: 'x',
  failed: 'f',
  layers: 'p',
} as const;

export type FrameToSupervisor = (typeof TO_SUPERVISOR)[keyof typeof TO_SUPERVISOR];

export interface Frame {
  readonly kind: string;
  readonly payload: Buffer;
}

/** Encodes one frame with a JSON payload. */
export function encodeFrame(kind: FrameToSupervisor, content: object): Buffer {
  const payload = Buffer.from(JSON.stringify(content));
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(kind, 'latin1');
  header.writeUInt32BE(payload.length, 1);
  return Buffer.concat([header, payload]);
}

/** Splits a byte stream into frames. Payloads refer to the received chunks and are not copied. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Yields each complete frame.
   *  @throws Error if the stream is invalid */
  *push(chunk: Buffer): Generator<Frame> {
    let rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (rest.length >= HEADER_BYTES) {
      const payloadBytes = rest.readUInt32BE(1);
      if (payloadBytes > MAX_PAYLOAD_BYTES)
        throw new Error(
          `a frame of ${payloadBytes} bytes exceeds the limit of ${MAX_PAYLOAD_BYTES}`,
        );
      const end = HEADER_BYTES + payloadBytes;
      if (rest.length < end) break;
      const frame = { kind: rest.toString('latin1', 0, 1), payload: rest.subarray(5, end) };
      rest = rest.subarray(end);
      this.#rest = rest;
      yield frame;
    }
    this.#rest = rest;
  }
}
