/** The contract for all secret store adapters. Each adapter's test calls this suite. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StoreFailure, type SecretStore } from '#domain/ports/secret-stores.ts';
import { maxSecretBytes } from '#domain/secret/secret.ts';

export interface SecretStoreFixture {
  /** Opens the secret store with a new client, as each run does. */
  readonly open: () => SecretStore;
  /** Stores one value and removes all other values at the path. */
  put(path: string, key: string, value: string): Promise<void>;
  close(): Promise<void>;
}

export function describeSecretStore(name: string, start: () => Promise<SecretStoreFixture>): void {
  describe(`secret store: ${name}`, () => {
    let fixture: SecretStoreFixture;
    beforeAll(async () => {
      fixture = await start();
    }, 30_000);
    afterAll(() => fixture.close());

    const read = async (path: string, key: string) =>
      await fixture.open().read({ path, key }, AbortSignal.timeout(5_000));

    test('reads the current value', async () => {
      await fixture.put('team/database', 'password', 'first "päss"\n😀 ');
      expect(await read('team/database', 'password')).toBe('first "päss"\n😀 ');
      await fixture.put('team/database', 'password', 'second');
      expect(await read('team/database', 'password')).toBe('second');
    });

    test('reads names with spaces and special characters', async () => {
      await fixture.put('a b/c%2e', 'x?y#z', 'value');
      expect(await read('a b/c%2e', 'x?y#z')).toBe('value');
    });

    test.each([
      ['team/absent', 'password'],
      ['team/database', 'absent'],
      ['team/database', 'constructor'],
    ])('refuses the missing place %s %s', async (path, key) => {
      await fixture.put('team/database', 'password', 'second');
      await expect(read(path, key)).rejects.toThrow(StoreFailure);
    });

    test.each([
      ['../team', 'password'],
      ['team/../../database', 'password'],
      ['team//database', 'password'],
      ['/team/database', 'password'],
      ['team/./database', 'password'],
      ['team/database', '../password'],
      ['team/database', '..'],
      ['team\\..', 'password'],
      ['team\0', 'password'],
    ])('refuses the place %j %j', async (path, key) => {
      await expect(read(path, key)).rejects.toThrow(StoreFailure);
    });

    test('reads a value of the maximum size, and refuses a larger one', async () => {
      const largest = 'x'.repeat(maxSecretBytes);
      await fixture.put('large', 'value', largest);
      expect(await read('large', 'value')).toBe(largest);
      await fixture.put('large', 'value', `${largest}x`);
      await expect(read('large', 'value')).rejects.toThrow(`exceeds ${maxSecretBytes} bytes`);
    });

    test('refuses an empty value', async () => {
      await fixture.put('empty', 'value', '');
      await expect(read('empty', 'value')).rejects.toThrow('the value is empty');
    });

    test('passes its check', async () => {
      await fixture.open().check(AbortSignal.timeout(5_000));
    });
  });
}
