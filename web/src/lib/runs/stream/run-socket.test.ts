import { expect, test, vi } from 'vitest';
import type { LogLine } from '#lib/api/types.ts';
import type { LinkState, Socket } from '#lib/live/live-socket.ts';
import { RunSocket } from './run-socket.ts';

class FakeSocket implements Socket {
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  closed = false;
  readonly fromSeq: number;
  readonly token: string;
  constructor(fromSeq: number, token: string) {
    this.fromSeq = fromSeq;
    this.token = token;
  }
  close(): void {
    this.closed = true;
  }
  send(...seqs: number[]): void {
    const items = seqs.map((seq) => ({
      seq,
      time: '',
      stream: 'stdout',
      level: null,
      text: `${seq}`,
    }));
    this.onmessage?.({ data: JSON.stringify({ type: 'log', items }) });
  }
}

function setUp(fromSeq = 1) {
  const sockets: FakeSocket[] = [];
  const retries: { delayMs: number; work: () => void; cancelled: boolean }[] = [];
  const seen: number[] = [];
  const links: LinkState[] = [];
  const token = vi.fn(async (stale: string | null): Promise<string | null> => `${stale ?? ''}t`);
  const ports = {
    open: (seq: number, value: string) => {
      const socket = new FakeSocket(seq, value);
      sockets.push(socket);
      return socket;
    },
    token,
    nowMs: () => 0,
    after: (delayMs: number, work: () => void) => {
      const retry = { delayMs, work, cancelled: false };
      retries.push(retry);
      return () => {
        retry.cancelled = true;
      };
    },
    random: () => 1,
  };
  const subject = new RunSocket(fromSeq, ports, {
    onLines: (lines: LogLine[]) => seen.push(...lines.map((line) => line.seq)),
    onRun: () => {},
    onProgress: () => {},
    onSpan: () => {},
    onSample: () => {},
    onEnd: () => {},
    onLink: (link) => links.push(link),
  });
  const opened = (count: number) =>
    vi.waitFor(() => expect(sockets).toHaveLength(count)).then(() => sockets[count - 1]!);
  return { subject, opened, retries, seen, links, token, sockets };
}

test('after a lost connection, the stream resumes after the last line without repeating lines', async () => {
  const { subject, opened, retries, seen } = setUp();
  await subject.connect();
  const first = await opened(1);
  first.send(1, 2, 3);
  first.onclose?.({ code: 1006 });
  retries[0]?.work();
  const second = await opened(2);
  expect(second.fromSeq).toBe(4);
  second.send(2, 3, 4, 5);
  expect(seen).toEqual([1, 2, 3, 4, 5]);
});

test('the delay between attempts doubles up to a limit, and a frame resets it', async () => {
  const { subject, opened, retries } = setUp();
  await subject.connect();
  for (let count = 1; count <= 7; count += 1) {
    (await opened(count)).onclose?.({ code: 1006 });
    retries.at(-1)?.work();
  }
  expect(retries.map((retry) => retry.delayMs)).toEqual([
    500, 1000, 2000, 4000, 8000, 15_000, 15_000,
  ]);
  const last = await opened(8);
  last.send(1);
  last.onclose?.({ code: 1006 });
  expect(retries.at(-1)?.delayMs).toBe(500);
});

test('a refused token is renewed immediately; after a second refusal, the next attempt is delayed', async () => {
  const { subject, opened, retries, token } = setUp();
  await subject.connect();
  (await opened(1)).onclose?.({ code: 4401 });
  const second = await opened(2);
  expect(token).toHaveBeenLastCalledWith('t');
  expect(second.token).toBe('tt');
  second.onclose?.({ code: 4401 });
  expect(retries).toHaveLength(1);
});

test.each([4403, 4404])('the stream does not reconnect after close code %i', async (code) => {
  const { subject, opened, retries, links } = setUp();
  await subject.connect();
  (await opened(1)).onclose?.({ code });
  expect(retries).toEqual([]);
  expect(links.at(-1)).toEqual({ state: 'refused', code });
});

test('the stream opens no connection after the end frame', async () => {
  const { subject, opened, retries, links, sockets } = setUp();
  await subject.connect();
  const socket = await opened(1);
  socket.onmessage?.({ data: '{"type":"end","status":"success"}' });
  socket.onclose?.({ code: 1000 });
  await subject.connect();
  expect(sockets).toHaveLength(1);
  expect(retries).toEqual([]);
  expect(links.at(-1)).toEqual({ state: 'ended' });
});

test('the stream resumes after the truncated part of the log', async () => {
  const { subject, opened, retries } = setUp();
  await subject.connect();
  const socket = await opened(1);
  const mark = {
    seq: 11,
    time: '',
    stream: 'system',
    level: null,
    text: '…',
    from_seq: 11,
    to_seq: 90,
  };
  socket.onmessage?.({ data: JSON.stringify({ type: 'log', items: [mark] }) });
  socket.onclose?.({ code: 1006 });
  retries[0]?.work();
  expect((await opened(2)).fromSeq).toBe(91);
});

test('if no token is available, the stream retries later, unless it is closed first', async () => {
  const { subject, retries, token, sockets } = setUp();
  token.mockRejectedValueOnce(new TypeError('offline'));
  await subject.connect();
  expect(retries).toHaveLength(1);
  subject.close();
  expect(retries[0]?.cancelled).toBe(true);
  retries[0]?.work();
  expect(sockets).toEqual([]);
});
