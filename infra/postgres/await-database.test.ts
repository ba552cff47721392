import { createServer } from 'node:net';
import { once } from 'node:events';
import { createEmptyDatabase } from '#infra/testing/database.ts';
import { freePorts } from '#infra/testing/free-ports.ts';
import { expect, test } from 'vitest';
import { awaitDatabase, withoutPassword } from './await-database.ts';

test('waiting for a database reports each failed attempt, and stops when aborted', async () => {
  const [port] = await freePorts(1);
  const stopping = new AbortController();
  const told: string[] = [];
  const waiting = awaitDatabase(`postgres://user:secret@127.0.0.1:${port}/name?sslmode=disable`, {
    signal: stopping.signal,
    passes: () => true,
    onAway: (tried) => told.push(tried) === 2 && stopping.abort(),
  });
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  expect(told).toEqual(Array(2).fill(`postgres://user@127.0.0.1:${port}/name`));
});

test('waiting for a database ends when the database becomes available, or with a permanent error', async () => {
  const database = await createEmptyDatabase();
  const refused = (error: unknown) => error;
  const never = { passes: () => false, onAway: refused };
  await awaitDatabase(database.adminUrl, never);
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await expect(awaitDatabase(`postgres://u@127.0.0.1:${port}/n`, never)).rejects.toThrow();
  await once(server.close(), 'close');
  await database.drop();
});

test('a database URL is shown without its password', () => {
  expect(withoutPassword('postgres://u:p%40@/n?host=/run')).toBe('postgres://u@/run:5432/n');
});
