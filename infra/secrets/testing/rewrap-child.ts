/** Wraps all data keys anew as a process of its own, to be killed. Its arguments: the address of the database, and
 *  the master keys in base64, the present one first. */
import { openDatabase } from '#infra/postgres/database.ts';
import { systemIds } from '#infra/system/ids.ts';
import { Vault } from '../vault.ts';

const [url = '', present = '', ...others] = process.argv.slice(2);
const { pool } = openDatabase(url, {
  connections: 1,
  applicationName: 'rewrap',
  onIdleError: () => undefined,
});
const keys = others.map((key) => Buffer.from(key, 'base64'));
await new Vault(pool, [Buffer.from(present, 'base64'), ...keys], systemIds).rewrap();
await pool.end();
