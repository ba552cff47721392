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
  'a connection error with the code %s means that the database is unavailable',
  (code) => {
    const error = new DatabaseUnavailable(Object.assign(new Error('connect'), { code }));
    expect(faultOf(error)).toMatchObject({ logged: true, problem: { code: 'unavailable' } });
  },
);

test('an invalid SQL statement is reported as an internal error', async () => {
  const error: unknown = await platform.pool.query('SELECT nothing').catch((cause) => cause);
  expect(error).toMatchObject({ code: '42703' });
  expect(faultOf(error)).toMatchObject({ logged: true, problem: { code: 'internal_error' } });
});

test('an error of another component is reported as an internal error', () => {
  const error = Object.assign(new Error('open'), { code: 'ENOENT', syscall: 'open' });
  expect(faultOf(error).problem.code).toBe('internal_error');
});
