/**
 * Publishes one message to an MQTT broker (MQTT 3.1.1, OASIS). Each message uses a new connection, so no keep-alive is
 * required.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** The broker is unreachable or refused the message. The error message gives the reason. */
export class MqttFailure extends Error {
  override readonly name = 'MqttFailure';
}

export interface MqttMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  /** Quality of service. 0 resolves when the message is sent; 1 resolves when the broker acknowledges it. */
  readonly qos: 0 | 1;
  readonly retain: boolean;
}

const timeoutMs = 10_000;
const [connectPacket, connackPacket, publishPacket, pubackPacket] = [0x10, 0x20, 0x30, 0x40];
const disconnect = Buffer.from([0xe0, 0x00]);
const packetId = 1;
/** The reasons for the return codes of CONNACK (section 3.2.2.3). */
const refusals = [
  '',
  'unsupported protocol version',
  'invalid client identifier',
  'server unavailable',
  'bad user name or password',
  'not authorized',
];

/** @param url an `mqtt://` or `mqtts://` URL, with user and password if the broker requires them
 *  @throws MqttFailure */
export async function publishMqtt(url: URL, message: MqttMessage): Promise<void> {
  const socket = await open(url);
  try {
    socket.write(connectOf(url));
    const answers = answersOf(socket);
    const accepted = await answerOf(answers, connackPacket);
    const code = accepted[1] ?? 0;
    if (code !== 0)
      throw new MqttFailure(`the broker refused the connection: ${refusals[code] ?? code}`);
    socket.write(publishOf(message));
    if (message.qos === 1) await answerOf(answers, pubackPacket);
    socket.end(disconnect);
    await once(socket, 'finish');
  } catch (error) {
    throw error instanceof MqttFailure ? error : failure(error);
  } finally {
    socket.destroy();
  }
}

async function open(url: URL): Promise<Socket> {
  const isTls = url.protocol === 'mqtts:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || (isTls ? 8883 : 1883));
  const socket = isTls ? connectTls({ host, port, servername: host }) : connectTcp({ host, port });
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error('the broker does not respond')));
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect');
  } catch (error) {
    socket.destroy();
    throw failure(error);
  }
  // After this point, pending calls report socket errors.
  socket.on('error', () => undefined);
  return socket;
}

function failure(cause: unknown): MqttFailure {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new MqttFailure(`the broker cannot be reached: ${reason}`, { cause });
}

function connectOf({ username, password }: URL): Buffer {
  const hasUser = username !== '';
  const hasPassword = hasUser && password !== '';
  const flags = 0x02 | (hasUser ? 0x80 : 0) | (hasPassword ? 0x40 : 0);
  return packet(connectPacket, [
    text('MQTT'),
    Buffer.from([4, flags, 0, timeoutMs / 1000]),
    text(`orch${randomBytes(8).toString('hex')}`),
    ...(hasUser ? [text(decodeURIComponent(username))] : []),
    ...(hasPassword ? [text(decodeURIComponent(password))] : []),
  ]);
}

function publishOf({ topic, payload, qos, retain }: MqttMessage): Buffer {
  const id = Buffer.from([0, packetId]);
  const kind = publishPacket | (qos << 1) | (retain ? 1 : 0);
  return packet(kind, [text(topic), ...(qos === 1 ? [id] : []), payload]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function packet(kind: number, parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const length: number[] = [];
  let left = body.length;
  do {
    const more = left >= 128;
    length.push((left % 128) | (more ? 0x80 : 0));
    left = Math.floor(left / 128);
  } while (left > 0);
  return Buffer.concat([Buffer.from([kind, ...length]), body]);
}

/** Yields the type and body of each packet from the broker. Expected packets are short. */
async function* answersOf(socket: Socket): AsyncGenerator<{ kind: number; body: Buffer }, void> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      const length = bytes[1];
      if (length === undefined || bytes.length < 2 + length) break;
      if (length > 127) throw new MqttFailure('the broker sent an unexpected response');
      yield { kind: (bytes[0] ?? 0) & 0xf0, body: bytes.subarray(2, 2 + length) };
      bytes = bytes.subarray(2 + length);
    }
  }
}

async function answerOf(
  answers: AsyncGenerator<{ kind: number; body: Buffer }, void>,
  kind: number,
): Promise<Buffer> {
  const { value, done } = await answers.next();
  if (done === true) throw new MqttFailure('the broker closed the connection');
  if (value.kind !== kind) throw new MqttFailure('the broker sent an unexpected response');
  return value.body;
}
