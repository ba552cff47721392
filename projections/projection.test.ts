import { describe, expect, test } from 'vitest';
import { together } from './projection.ts';

class DatabaseError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

const echo = () => Promise.reject(new DatabaseError('25P02'));
const cause = () => Promise.reject(new DatabaseError('23505'));

describe('tasks that share a transaction', () => {
  test('return their results if all succeed', async () => {
    expect(await together([Promise.resolve(1), 'two'])).toEqual([1, 'two']);
  });

  test('throw the error from the first failed task, not the errors that it causes', async () => {
    await expect(together([echo(), cause(), echo()])).rejects.toThrow('23505');
    await expect(together([together([echo(), cause()]), echo()])).rejects.toThrow('23505');
    await expect(together([echo()])).rejects.toThrow('25P02');
  });

  test('wait for all other tasks if one of them fails', async () => {
    const late = Promise.withResolvers<void>();
    let over = false;
    const all = together([cause(), late.promise]).catch(() => {
      over = true;
    });
    await Promise.resolve();
    expect(over).toBe(false);
    late.resolve();
    await all;
    expect(over).toBe(true);
  });
});
