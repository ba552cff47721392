import { expect, test, vi } from 'vitest';
import { authorizedFetch } from './authorized-fetch.ts';
import { TokenKeeper, type TokenAnswer, type TokenKeeperPorts } from './token-keeper.ts';

const address = 'http://localhost/api/v1/scripts';

function setUp(more: Partial<TokenKeeperPorts> = {}) {
  let nowMs = 0;
  let count = 0;
  const timers: { delayMs: number; work: () => void }[] = [];
  const refresh = vi.fn(async (): Promise<TokenAnswer | null> => ({
    access_token: `fresh-${(count += 1)}`,
    expires_in: 900,
  }));
  const onEnded = vi.fn();
  const announce = vi.fn();
  const keeper = new TokenKeeper({
    refresh,
    exclusively: (work) => work(),
    announce,
    onEnded,
    nowMs: () => nowMs,
    random: () => 0.5,
    after: (delayMs, work) => {
      timers.push({ delayMs, work });
      return () => {};
    },
    ...more,
  });
  const valid = new Set<string>();
  const send = vi.fn(async (request: Request) => {
    const token = request.headers.get('authorization')?.replace('Bearer ', '') ?? '';
    return new Response(await request.text(), { status: valid.has(token) ? 200 : 401 });
  });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return {
    keeper,
    send,
    fetch: authorizedFetch(keeper, send),
    refresh,
    valid,
    timers,
    pass,
    onEnded,
    announce,
  };
}

test('ten requests with a revoked token renew it once, and all ten are repeated', async () => {
  const { keeper, fetch, refresh, valid } = setUp();
  keeper.accept({ access_token: 'old', expires_in: 900 });
  valid.add('fresh-1');
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      fetch(new Request(address, { method: 'POST', body: `body ${index}` })),
    ),
  );
  expect(answers.map((answer) => answer.status)).toEqual(Array(10).fill(200));
  expect(await answers[7]?.text()).toBe('body 7');
  expect(refresh).toHaveBeenCalledTimes(1);
});

test('an expired token is renewed before the request is sent', async () => {
  const { keeper, fetch, send, refresh, valid, pass } = setUp();
  keeper.accept({ access_token: 'old', expires_in: 900 });
  valid.add('fresh-1');
  pass(900_001);
  expect((await fetch(new Request(address))).status).toBe(200);
  expect(send).toHaveBeenCalledTimes(1);
  expect(refresh).toHaveBeenCalledTimes(1);
});

test('a token is renewed one to two minutes before it expires', async () => {
  const { keeper, timers, refresh } = setUp();
  keeper.accept({ access_token: 'old', expires_in: 900 });
  expect(timers[0]?.delayMs).toBe(810_000);
  timers[0]?.work();
  await vi.waitFor(() => expect(keeper.current()).toBe('fresh-1'));
  expect(refresh).toHaveBeenCalledTimes(1);
});

test('after the session has ended, requests return 401 and the end is reported once', async () => {
  const { keeper, fetch, refresh, onEnded } = setUp();
  keeper.accept({ access_token: 'old', expires_in: 900 });
  refresh.mockResolvedValue(null);
  const answers = await Promise.all([fetch(new Request(address)), fetch(new Request(address))]);
  expect(answers.map((answer) => answer.status)).toEqual([401, 401]);
  expect(onEnded).toHaveBeenCalledTimes(1);
  expect(keeper.current()).toBeNull();
});

test('an unreachable server does not end the session', async () => {
  const { keeper, fetch, refresh, onEnded, pass } = setUp();
  keeper.accept({ access_token: 'old', expires_in: 900 });
  pass(900_001);
  refresh.mockRejectedValueOnce(new TypeError('offline'));
  await expect(fetch(new Request(address))).rejects.toThrow('offline');
  expect(onEnded).not.toHaveBeenCalled();
});

test('a request that waited for the lock uses the token that another tab has renewed', async () => {
  let release = () => {};
  const lock = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { keeper, refresh } = setUp({ exclusively: async (work) => lock.then(work) });
  const renewal = keeper.renew('old');
  keeper.adopt({ value: 'theirs', expiresAtMs: 900_000 });
  release();
  expect(await renewal).toBe('theirs');
  expect(refresh).not.toHaveBeenCalled();
});

test('a request that is refused twice is not retried again', async () => {
  const { keeper, fetch, send } = setUp();
  keeper.accept({ access_token: 'old', expires_in: 900 });
  expect((await fetch(new Request(address))).status).toBe(401);
  expect(send).toHaveBeenCalledTimes(2);
});
