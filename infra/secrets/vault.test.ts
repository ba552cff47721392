/** Seals and opens secrets with a real table of data keys. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Sealed } from '#domain/secret/events.ts';
import { systemIds } from '#infra/system/ids.ts';
import { openDatabase, type Database } from '#infra/postgres/database.ts';
import { createTestDatabase } from '#infra/testing/database.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { destroyDataKey, destroyUnusedDataKeys } from './data-keys.ts';
import { Vault } from './vault.ts';

const masterKey = randomBytes(32);
let database: Database;
let drop: () => Promise<void>;
let vault: Vault;
let serviceUrl: string;
beforeAll(async () => {
  const created = await createTestDatabase();
  drop = created.drop;
  serviceUrl = created.serviceUrl;
  database = openDatabase(created.serviceUrl, {
    connections: 3,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  vault = new Vault(database.pool, [masterKey], systemIds);
});
afterAll(async () => {
  await database.close();
  await drop();
});

const placeOf = (changes = {}) => ({
  scriptId: systemIds.next(),
  name: 'TOKEN',
  version: 1,
  ...changes,
});

describe('a sealed value', () => {
  test('can be opened for its script, name and version', async () => {
    const place = placeOf();
    const value = 'päss "wörd"\n😀';
    expect(await vault.open(place, await vault.seal(place, value))).toBe(value);
  });

  test('differs each time the same value is sealed', async () => {
    const place = placeOf();
    const [one, other] = [await vault.seal(place, 'same'), await vault.seal(place, 'same')];
    expect(one.nonce).not.toBe(other.nonce);
    expect(one.ciphertext).not.toBe(other.ciphertext);
  });

  test.each([['name'], ['version'], ['scriptId']])(
    'cannot be opened with another %s',
    async (part) => {
      const place = placeOf();
      const sealed = await vault.seal(place, 'a value');
      const elsewhere = {
        ...place,
        ...{ name: { name: 'OTHER' }, version: { version: 2 }, scriptId: placeOf() }[part],
      };
      await expect(vault.open(elsewhere, sealed)).rejects.toThrow(/cannot be read: it was sealed/);
    },
  );

  test('cannot be opened if it names the key of another script', async () => {
    const place = placeOf();
    const sealed = await vault.seal(place, 'a value');
    const { keyId } = await vault.seal(placeOf(), 'another');
    await expect(vault.open(place, { ...sealed, keyId })).rejects.toThrow(/cannot be read/);
  });

  test('cannot be opened if it was changed or truncated', async () => {
    const place = placeOf();
    const sealed = await vault.seal(place, 'a value');
    const bytes = Buffer.from(sealed.ciphertext, 'base64');
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    for (const damaged of [bytes, bytes.subarray(0, 20), bytes.subarray(0, 3)]) {
      const ciphertext = damaged.toString('base64');
      await expect(vault.open(place, { ...sealed, ciphertext })).rejects.toThrow(/cannot be read/);
    }
  });

  test('cannot be opened with another master key, and the error reveals only this reason', async () => {
    const place = placeOf();
    const sealed = await vault.seal(place, 'a value');
    const other = new Vault(database.pool, [randomBytes(32)], systemIds);
    await expect(other.open(place, sealed)).rejects.toThrow(
      'The secret "TOKEN" cannot be read: its data key was created with a different SECRET_MASTER_KEY. Set it again.',
    );
    await expect(other.seal(place, 'x')).rejects.toThrow(/a different SECRET_MASTER_KEY/);
  });

  test('cannot be opened if its wrapped key was replaced', async () => {
    const [one, other] = [placeOf(), placeOf()];
    const sealed = await vault.seal(one, 'a value');
    await vault.seal(other, 'another');
    await database.pool.query(
      `UPDATE data_keys SET wrapped_key =
         (SELECT wrapped_key FROM data_keys WHERE script_id = $2) WHERE script_id = $1`,
      [one.scriptId, other.scriptId],
    );
    await expect(vault.open(one, sealed)).rejects.toThrow(/cannot be read/);
  });
});

describe('a changed master key', () => {
  test('can be used without the previous key once all data keys are rewrapped', async () => {
    const next = randomBytes(32);
    const [place, later] = [placeOf(), placeOf()];
    const sealed = await vault.seal(place, 'a value');
    const ready = new Vault(database.pool, [masterKey, next], systemIds);
    const changed = new Vault(database.pool, [next, masterKey], systemIds);
    expect(await changed.open(place, sealed)).toBe('a value');
    await changed.rewrap();
    await changed.rewrap();
    for (const one of [ready, changed, new Vault(database.pool, [next], systemIds)]) {
      expect(await one.open(place, sealed)).toBe('a value');
    }
    await expect(vault.open(place, sealed)).rejects.toThrow(/a different SECRET_MASTER_KEY/);
    expect(await changed.open(later, await ready.seal(later, 'later'))).toBe('later');
    expect(await new Vault(database.pool, [randomBytes(32)], systemIds).rewrap()).toBeGreaterThan(
      1,
    );
    await new Vault(database.pool, [masterKey, next], systemIds).rewrap();
    expect(await vault.open(place, sealed)).toBe('a value');
  });
});

describe('an interrupted change of the master key', () => {
  test('keeps every secret readable, and completes at the next start', async () => {
    const [before, next] = [randomBytes(32), randomBytes(32)];
    const running = [
      new Vault(database.pool, [before, next], systemIds),
      new Vault(database.pool, [next, before], systemIds),
    ] as const;
    const places = Array.from({ length: 9 }, (_, index) => placeOf({ version: index + 1 }));
    const sealed: Sealed[] = [];
    for (const place of places) {
      sealed.push(await running[0].seal(place, `value ${place.version}`));
    }
    const readable = async (vaults: readonly Vault[]) => {
      for (const one of vaults) {
        const values = await Promise.all(
          places.map((place, index) => one.open(place, sealed[index]!)),
        );
        expect(values).toEqual(places.map(({ version }) => `value ${version}`));
      }
    };
    // The rotation stops at the middle key, which another connection has locked.
    const holder = await database.pool.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM data_keys WHERE script_id = $1 FOR UPDATE', [
      places[4]?.scriptId,
    ]);
    const child = spawn(process.execPath, [
      fileURLToPath(new URL('testing/rewrap-child.ts', import.meta.url)),
      serviceUrl,
      next.toString('base64'),
      before.toString('base64'),
    ]);
    const exited = once(child, 'exit');
    await waitsForTheKey();
    await readable(running);
    child.kill('SIGKILL');
    expect(await exited).toEqual([null, 'SIGKILL']);
    await holder.query('ROLLBACK');
    holder.release();
    const half = await wrappedBy(places);
    expect(new Set(half).size).toBe(2);
    await readable(running);
    // In the meantime, runs read secrets and scripts get new secrets.
    const later = placeOf();
    const added = await running[0].seal(later, 'later');
    const reading = readable(running);
    await running[1].rewrap();
    await reading;
    expect(new Set(await wrappedBy([...places, later])).size).toBe(1);
    const alone = new Vault(database.pool, [next], systemIds);
    await readable([alone, ...running]);
    expect(await alone.open(later, added)).toBe('later');
    await expect(new Vault(database.pool, [before], systemIds).open(later, added)).rejects.toThrow(
      /a different SECRET_MASTER_KEY/,
    );
  });

  async function waitsForTheKey(): Promise<void> {
    for (;;) {
      const { rowCount } = await database.pool.query(
        `SELECT FROM pg_stat_activity WHERE application_name = 'rewrap' AND wait_event_type = 'Lock'`,
      );
      if (rowCount !== 0) return;
      await pause(10);
    }
  }

  async function wrappedBy(places: readonly { readonly scriptId: string }[]) {
    const { rows } = await database.pool.query<{ master_key_id: string }>(
      'SELECT master_key_id FROM data_keys WHERE script_id = ANY($1::uuid[])',
      [places.map(({ scriptId }) => scriptId)],
    );
    return rows.map((row) => row.master_key_id);
  }
});

describe('concurrent sealing for a new script', () => {
  test('uses a single data key, and each value can be opened', async () => {
    const place = placeOf();
    const values = Array.from({ length: 6 }, (_, index) => `value ${index}`);
    const sealed = await Promise.all(values.map((value) => vault.seal(place, value)));
    expect(new Set(sealed.map(({ keyId }) => keyId)).size).toBe(1);
    expect(await Promise.all(sealed.map((one) => vault.open(place, one)))).toEqual(values);
  });
});

describe('a script whose data key is destroyed', () => {
  test('has no readable copy of its secrets, and gets a new data key for its next secret', async () => {
    const place = placeOf();
    const sealed = await vault.seal(place, 'a value');
    await destroyDataKey(database.pool, place.scriptId);
    await expect(vault.open(place, sealed)).rejects.toThrow(/its data key was destroyed/);
    const again = await vault.seal(place, 'a value');
    expect(again.keyId).not.toBe(sealed.keyId);
    await expect(vault.open(place, sealed)).rejects.toThrow(/its data key was destroyed/);
  });
});

describe('unused data keys', () => {
  test('are destroyed by a cleanup, which keeps data keys in use', async () => {
    const [unused, used] = [placeOf(), placeOf()];
    const lost = await vault.seal(unused, 'a value');
    const kept = await vault.seal(used, 'a value');
    await database.pool.query(
      `INSERT INTO secrets VALUES ($1, 'TOKEN', 1, 1, false, $2, now(), 'user')`,
      [used.scriptId, JSON.stringify(kept)],
    );
    await destroyUnusedDataKeys(database.pool, 1_000);
    await expect(vault.open(unused, lost)).rejects.toThrow(/its data key was destroyed/);
    expect(await vault.open(used, kept)).toBe('a value');
  });
});
