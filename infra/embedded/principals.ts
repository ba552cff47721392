/** Creates the service's database and its database users. */
import { withConnection } from '#infra/postgres/await-database.ts';
import type pg from 'pg';
import { DATABASE, SERVICE_USER } from './cluster.ts';

/** Creates missing users and databases. Existing ones are not changed.
 *  @param maintenanceUrl a superuser's URL of the `postgres` database */
export async function preparePrincipals(
  maintenanceUrl: string,
  servicePassword: string,
): Promise<void> {
  await withConnection(maintenanceUrl, async (client) => {
    const role = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [SERVICE_USER]);
    if (role.rowCount === 0) await createService(client, servicePassword);
    const database = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (database.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
    await client.query(`REVOKE ALL ON DATABASE ${DATABASE} FROM PUBLIC;
      GRANT CONNECT, TEMPORARY ON DATABASE ${DATABASE} TO orch_app`);
  });
}

/** The group's privileges are granted by the migrations. */
async function createService(client: pg.Client, password: string): Promise<void> {
  await client.query(`
    DO $$ BEGIN
      CREATE ROLE orch_app NOLOGIN;
    EXCEPTION WHEN duplicate_object THEN NULL;
    END $$;
    CREATE ROLE ${SERVICE_USER} LOGIN PASSWORD ${client.escapeLiteral(password)} IN ROLE orch_app;`);
}
