/** Rewraps all data keys in a separate process, which tests kill. The arguments are the database URL and the master
 *  keys in base64, with the current key first. */
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
