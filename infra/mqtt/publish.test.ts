/** Publishes to a test broker that records the received bytes (MQTT 3.1.1). */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { publishMqtt } from './publish.ts';

const message = { topic: 'a/b', payload: Buffer.from('hello'), qos: 1, retain: false } as const;
const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** @param answer what the broker sends after the n-th received packet */
async function broker(answer: (count: number, socket: Socket) => void) {
  const heard: Buffer[] = [];
  const ended = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    let count = 0;
    socket.on('error', () => undefined);
    socket.on('end', () => ended.resolve());
    socket.on('data', (bytes) => {
      heard.push(bytes);
      answer((count += 1), socket);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => server.close());
  return { heard, ended: ended.promise, port: (server.address() as AddressInfo).port };
}

const good = (count: number, socket: Socket) => {
  if (count === 1) socket.write(Buffer.from([0x20, 2, 0, 0]));
  if (count === 2) socket.write(Buffer.from([0x40, 2, 0, 1]));
};

describe('a message', () => {
  test('is sent with its client ID, topic and payload', async () => {
    const { heard, port } = await broker(good);
    await publishMqtt(new URL(`mqtt://me:s%20t@127.0.0.1:${port}`), message);
    const [connect, publish] = heard;
    expect(connect?.subarray(2, 12)).toEqual(Buffer.from('\0\x04MQTT\x04\xc2\0\x0a', 'latin1'));
    expect(connect?.subarray(-9).toString()).toBe('\0\x02me\0\x03s t');
    expect(publish).toEqual(Buffer.from('\x32\x0c\0\x03a/b\0\x01hello'));
  });

  test('is sent at QoS 0 without waiting for an acknowledgment', async () => {
    const { heard, ended, port } = await broker(good);
    const large = { ...message, payload: Buffer.alloc(20_000, 'x'), qos: 0, retain: true } as const;
    await publishMqtt(new URL(`mqtt://127.0.0.1:${port}`), large);
    await ended;
    const rest = Buffer.concat(heard).subarray(heard[0]?.length);
    // The length of 20,005 bytes is encoded in three bytes.
    expect(rest.subarray(0, 4)).toEqual(Buffer.from([0x31, 0xa5, 0x9c, 0x01]));
    expect(rest.length).toBe(4 + 5 + 20_000 + 2);
  });

  test.each([
    ['refuses the user', [0x20, 2, 0, 4], /user name or password/],
    ['refuses the connection for another reason', [0x20, 2, 0, 99], /refused the connection: 99/],
    ['sends an unexpected packet', [0x90, 2, 0, 0], /unexpected response/],
    [
      'sends an oversized packet',
      [0x20, 0xff, 0x01, 0, ...Array.from({ length: 300 }, () => 0)],
      /unexpected/,
    ],
  ])('fails when the broker %s', async (_name, bytes, why) => {
    const { port } = await broker((_count, socket) => socket.write(Buffer.from(bytes)));
    await expect(publishMqtt(new URL(`mqtt://127.0.0.1:${port}`), message)).rejects.toThrow(why);
  });

  test('fails when the broker disconnects or is unreachable', async () => {
    const { port } = await broker((_count, socket) => socket.destroy());
    const url = new URL(`mqtt://127.0.0.1:${port}`);
    await expect(publishMqtt(url, message)).rejects.toThrow(/broker c/);
    closing.splice(0).forEach((close) => close());
    await expect(publishMqtt(url, message)).rejects.toThrow(/cannot be reached: .*ECONNREFUSED/);
  });
});
