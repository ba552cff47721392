/** Manages the services' database user on an external server. */
import pg from 'pg';
import { withConnection } from './await-database.ts';

/** Creates the user named in `serviceUrl`, or sets its password. Migrations grant privileges to `orch_app`, so they
 *  must be applied first.
 *  @param adminUrl the URL of the schema's owner, who must be allowed to create users
 *  @throws Error with a message for the operator if both URLs name the same user */
export async function prepareServiceUser(adminUrl: string, serviceUrl: string): Promise<void> {
  const { user = '', password } = new pg.Client({ connectionString: serviceUrl });
  if (user === new pg.Client({ connectionString: adminUrl }).user) {
    throw new Error(
      'ORCH_DATABASE_URL and ORCH_DATABASE_ADMIN_URL name the same user: the services need a user with fewer privileges',
    );
  }
  await withConnection(adminUrl, async (client) => {
    const name = client.escapeIdentifier(user);
    const known = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [user]);
    const verb = known.rowCount === 0 ? 'CREATE' : 'ALTER';
    await client.query(
      `${verb} ROLE ${name} LOGIN PASSWORD ${client.escapeLiteral(password ?? '')}`,
    );
    await client.query(`GRANT orch_app TO ${name}`);
    const database = client.escapeIdentifier(client.database ?? '');
    await client.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC;
      GRANT CONNECT, TEMPORARY ON DATABASE ${database} TO orch_app`);
  });
}
