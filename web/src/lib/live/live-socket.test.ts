import { expect, test, vi } from 'vitest';
import { LiveSocket, type LinkState, type Socket } from './live-socket.ts';

function setUp() {
  const sockets: Socket[] = [];
  const timers: { delayMs: number; work: () => void }[] = [];
  const links: LinkState[] = [];
  const close = vi.fn();
  const subject = new LiveSocket(
    {
      open: () => {
        const socket = { onopen: null, onmessage: null, onclose: null, close };
        sockets.push(socket);
        return socket;
      },
      token: async () => 't',
      nowMs: () => 0,
      after: (delayMs, work) => {
        const timer = { delayMs, work };
        timers.push(timer);
        return () => {
          if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
        };
      },
      random: () => 1,
    },
    { onText: () => {}, onLink: (link) => links.push(link) },
    40_000,
  );
  return { subject, sockets, timers, links, close };
}

test('a silent connection is replaced', async () => {
  const { subject, sockets, timers, links, close } = setUp();
  await subject.connect();
  sockets[0]?.onmessage?.({ data: '{}' });
  expect(timers.map((timer) => timer.delayMs)).toEqual([40_000]);
  timers[0]?.work();
  expect(close).toHaveBeenCalledTimes(1);
  expect(links.at(-1)).toEqual({ state: 'waiting', retryAtMs: 500 });
  timers.at(-1)?.work();
  await vi.waitFor(() => expect(sockets).toHaveLength(2));
});

test('a closed connection has no pending timers', async () => {
  const { subject, timers, close } = setUp();
  await subject.connect();
  subject.close();
  subject.close();
  expect(close).toHaveBeenCalledTimes(1);
  expect(timers).toEqual([]);
});
