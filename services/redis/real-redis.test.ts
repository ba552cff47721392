import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { redisProgram, startRealRedis, type RealRedis } from './testing/programs.ts';
import { RawClient, type Value } from './testing/raw-client.ts';
import { password, startTestAdapter, type TestAdapter } from './testing/test-adapter.ts';

/** Commands for which Redis and the adapter must send identical replies. `<` reads one more reply. */
type Session = readonly (readonly string[])[];

const jobs = 'runtime:jobs';
const sessions: Readonly<Record<string, Session>> = {
  'a stranger': [
    ['LLEN', jobs],
    ['SET', 'a', 'b'],
    ['AUTH', 'a', 'b', 'c'],
    ['HELLO', 'x'],
    ['HELLO', '9'],
    ['HELLO', '3', 'NONSENSE'],
    ['QUIT'],
  ],
  'a member': [
    ['AUTH', password],
    ['PING'],
    ['PING', 'x'],
    ['PING', 'x', 'y'],
    ['ping', 'é'],
    ['SELECT', '0'],
    ['SELECT', 'x'],
    ['SELECT', '99'],
    ['CLIENT', 'SETNAME', 'a'],
    ['CLIENT', 'GETNAME'],
    ['CLIENT', 'SETNAME', 'a b'],
    ['CLIENT', 'SETNAME', ''],
    ['CLIENT', 'GETNAME'],
    ['CLIENT', 'NONSENSE'],
    ['CLIENT', 'REPLY', 'ON'],
    ['NONSENSE'],
    ['NONSENSE', 'a', 'b'],
    ['COMMAND', 'NONSENSE'],
    ['RESET'],
    ['LLEN', jobs],
  ],
  'one who takes from an empty queue': [
    ['AUTH', password],
    ['LLEN', jobs],
    ['LLEN'],
    ['RPOP', jobs],
    ['LPOP', jobs, '2'],
    ['RPOP', jobs, '-1'],
    ['RPOP', jobs, 'x'],
    ['RPOP', jobs, '1', '2'],
    ['BRPOP', jobs, '0.05'],
    ['BLPOP', 'a', jobs, '0.05'],
    ['BRPOP', jobs, 'x'],
    ['BRPOP', jobs, '-1'],
    ['LMOVE', jobs, 'b', 'LEFT', 'RIGHT'],
    ['LMOVE', jobs, 'b', 'UP', 'DOWN'],
    ['BLMOVE', jobs, 'b', 'LEFT', 'RIGHT', '0.05'],
    ['LRANGE', jobs, '0', '-1'],
    ['LRANGE', jobs, 'a', 'b'],
    ['TYPE', jobs],
    ['EXISTS', jobs, 'x'],
    ['TTL', jobs],
    ['EXPIRE', jobs, '5'],
    ['EXPIRE', jobs, 'x'],
    ['KEYS', '*'],
    ['SCAN', '0'],
    ['SCAN', '0', 'MATCH', 'x*', 'COUNT', '10'],
    ['SCAN', 'x'],
    ['SCAN', '0', 'NONSENSE', '1'],
  ],
  'a client of transactions': [
    ['AUTH', password],
    ['EXEC'],
    ['DISCARD'],
    ['UNWATCH'],
    ['MULTI'],
    ['MULTI'],
    ['EXEC'],
    ['MULTI', 'x'],
    ['MULTI'],
    ['EXEC'],
    ['MULTI'],
    ['PING'],
    ['LLEN', jobs],
    ['RPOP', jobs],
    ['BRPOP', jobs, '0'],
    ['BLMOVE', jobs, 'b', 'LEFT', 'RIGHT', '0'],
    ['BLMPOP', '0', '1', jobs, 'LEFT'],
    ['XREAD', 'BLOCK', '0', 'STREAMS', 'x', '$'],
    ['RPOP', jobs, 'x'],
    ['UNWATCH'],
    ['ECHO', 'a'],
    ['EXEC'],
    ['PING'],
    ['MULTI'],
    ['ECHO', 'a'],
    ['DISCARD'],
    ['EXEC'],
    ['MULTI'],
    ['NONSENSE'],
    ['ECHO', 'a'],
    ['EXEC'],
    ['ECHO', 'in sync'],
    ['MULTI'],
    ['ECHO'],
    ['EXEC'],
    ['ECHO', 'in sync'],
    ['MULTI'],
    ['WATCH', 'x'],
    ['EXEC'],
    ['MULTI'],
    ['RESET'],
    ['AUTH', password],
    ['EXEC'],
    ['MULTI'],
    ['ECHO', 'a'],
    ['QUIT'],
  ],
  'a client of less common commands': [
    ['AUTH', password],
    ['ECHO', 'a'],
    ['ECHO'],
    ['TIME', 'x'],
    ['RPOPLPUSH', jobs, 'b'],
    ['RPOPLPUSH', jobs],
    ['BRPOPLPUSH', jobs, 'b', '0.05'],
    ['BRPOPLPUSH', jobs, 'b', 'x'],
    ['LMPOP', '1', jobs, 'LEFT'],
    ['LMPOP', '2', 'a', jobs, 'RIGHT', 'COUNT', '3'],
    ['LMPOP', '0', jobs, 'LEFT'],
    ['LMPOP', 'x', jobs, 'LEFT'],
    ['LMPOP', '1', jobs, 'UP'],
    ['LMPOP', '9', jobs, 'LEFT'],
    ['LMPOP', '1', jobs, 'LEFT', 'COUNT', '0'],
    ['LMPOP', '1', jobs, 'LEFT', 'COUNT', 'x'],
    ['LMPOP', '1', jobs, 'LEFT', 'COUNT'],
    ['LMPOP', '1', jobs, 'LEFT', 'COUNT', '1', 'x'],
    ['BLMPOP', '0.05', '1', jobs, 'LEFT'],
    ['BLMPOP', 'x', '1', jobs, 'LEFT'],
    ['BLMPOP', '-1', '1', jobs, 'LEFT'],
    ['BLMPOP', '0.05', '0', jobs, 'LEFT'],
    ['XREVRANGE', 'x', '+', '-'],
    ['XREVRANGE', 'x', '+', '-', 'COUNT', '1'],
    ['XREVRANGE', 'x', 'a', '-'],
    ['XINFO', 'STREAM', 'x'],
    ['XINFO', 'GROUPS', 'x'],
    ['XINFO', 'CONSUMERS', 'x', 'g'],
    ['XINFO', 'STREAM'],
    ['XINFO', 'NONSENSE'],
    ['PUBSUB', 'CHANNELS'],
    ['PUBSUB', 'CHANNELS', 'x', 'y'],
    ['PUBSUB', 'NUMSUB'],
    ['PUBSUB', 'NUMSUB', 'x', 'script.updated'],
    ['PUBSUB', 'NUMPAT'],
    ['PUBSUB', 'NUMPAT', 'x'],
    ['PUBSUB', 'SHARDCHANNELS'],
    ['PUBSUB', 'SHARDCHANNELS', 'x', 'y'],
    ['PUBSUB', 'SHARDNUMSUB', 'x'],
    ['PUBSUB', 'NONSENSE'],
    ['PUBSUB'],
  ],
  'a reader of missing keys': [
    ['AUTH', password],
    ['XLEN', 'x'],
    ['XRANGE', 'x', '-', '+'],
    ['XRANGE', 'x', 'a', '+'],
    ['XRANGE', 'x', '-', '+', 'COUNT', 'x'],
    ['XREAD', 'STREAMS', 'x', '0'],
    ['XREAD', 'BLOCK', '20', 'STREAMS', 'x', '$'],
    ['XREAD', 'STREAMS', 'x', 'y', '0'],
    ['XREAD', 'BLOCK', '-1', 'STREAMS', 'x', '0'],
    ['XREAD', 'COUNT', '1', 'x', '0'],
    ['XADD', 'x', '*', 'a'],
  ],
  'a subscriber': [
    ['AUTH', password],
    ['SUBSCRIBE', 'script.updated'],
    ['PSUBSCRIBE', 'script.*'],
    ['PING'],
    ['PING', 'x'],
    ['LLEN', jobs],
    ['UNSUBSCRIBE', 'script.updated'],
    ['UNSUBSCRIBE'],
    ['PUNSUBSCRIBE'],
    ['PUNSUBSCRIBE'],
    ['PING'],
    ['SUBSCRIBE'],
    ['RESET'],
  ],
};

let adapter: TestAdapter;
let real: RealRedis | undefined;
beforeAll(async () => {
  const { found } = redisProgram('redis-server');
  if (found === undefined) return;
  [adapter, real] = await Promise.all([startTestAdapter(), startRealRedis(found, password)]);
});
afterAll(async () => {
  await Promise.all([adapter?.close(), real?.close()]);
});

async function replies(
  port: number,
  session: Session,
  protocol: string,
): Promise<readonly unknown[]> {
  const client = await RawClient.open(port);
  const all: unknown[] = [];
  for (const [index, words] of session.entries()) {
    all.push([words.join(' '), plain(await client.call(...words))]);
    const hasSignedIn = index === 0 && words[0] === 'AUTH';
    if (hasSignedIn && protocol === '3') await client.call('HELLO', '3');
  }
  client.close();
  return all;
}

/** Converts maps to lists of pairs, so that replies can be compared. */
function plain(value: Value): unknown {
  if (value instanceof Map) return [...value].map(([key, one]) => [plain(key), plain(one)]);
  if (Array.isArray(value)) return (value as readonly Value[]).map(plain);
  return value;
}

describeWith(redisProgram('redis-server'), 'the adapter', () => {
  const cases = Object.keys(sessions).flatMap(
    (name) =>
      [
        [name, '2'],
        [name, '3'],
      ] as const,
  );

  test.each(cases)(
    'returns the same replies as a real Redis to %s with RESP%s',
    async (name, protocol) => {
      const session = sessions[name] ?? [];
      const [ours, theirs] = await Promise.all([
        replies(adapter.port, session, protocol),
        replies(real?.port ?? 0, session, protocol),
      ]);
      expect(ours).toEqual(theirs);
    },
  );
});
