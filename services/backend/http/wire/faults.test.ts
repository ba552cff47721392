import { DatabaseUnavailable } from '#infra/postgres/connection.ts';
import { openTestPlatform, type TestPlatform } from '#infra/testing/platform.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { faultOf } from './faults.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(() => platform.close());

test.each(['EAGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EHOSTDOWN', 'ENEW'])(
  'reports the database as unavailable for %s',
  (code) => {
    const error = new DatabaseUnavailable(Object.assign(new Error('connect'), { code }));
    expect(faultOf(error)).toMatchObject({ logged: true, problem: { code: 'unavailable' } });
  },
);

test('reports an invalid SQL statement as an internal error', async () => {
  const error: unknown = await platform.pool.query('SELECT nothing').catch((cause) => cause);
  expect(error).toMatchObject({ code: '42703' });
  expect(faultOf(error)).toMatchObject({ logged: true, problem: { code: 'internal_error' } });
});

test('reports an error of another component as an internal error', () => {
  const error = Object.assign(new Error('open'), { code: 'ENOENT', syscall: 'open' });
  expect(faultOf(error).problem.code).toBe('internal_error');
});
