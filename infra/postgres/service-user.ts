/** The user that the services log in as, on a server that somebody else runs. */
import pg from 'pg';
import { withConnection } from './await-database.ts';

/** Makes the user of `serviceUrl`, or gives it that password; it may do what migrations grant to `orch_app`.
 *  To be called when these have been carried out.
 *  @param adminUrl the address of the schema's owner, who may make users
 *  @throws Error with a line for the operator where both addresses name one user */
export async function prepareServiceUser(adminUrl: string, serviceUrl: string): Promise<void> {
  const { user = '', password } = new pg.Client({ connectionString: serviceUrl });
  if (user === new pg.Client({ connectionString: adminUrl }).user) {
    throw new Error(
      'ORCH_DATABASE_URL and ORCH_DATABASE_ADMIN_URL name the same user: the services are to have fewer rights',
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
