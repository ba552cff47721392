/** Creates a separate database with the complete schema for each test file. */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import { databaseUrl, withClient } from './client.ts';
import type { TestServer, TestServerAnswer } from './postgres-server.ts';

export interface TestDatabase {
  /** The URL for the schema's owner. */
  readonly adminUrl: string;
  /** The URL for the services. */
  readonly serviceUrl: string;
  /** Ends any remaining sessions and removes the database. */
  drop(): Promise<void>;
}

/** Creates a migrated but otherwise empty database within tens of milliseconds. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = await askForServer();
  return newDatabase(server, server.template);
}

/** Creates a database without any schema, for tests of the migrations themselves. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return newDatabase(await askForServer(), 'template0');
}

async function newDatabase(server: TestServer, template: string): Promise<TestDatabase> {
  const name = `${server.template}_${randomBytes(6).toString('hex')}`;
  const maintenanceUrl = databaseUrl(server.adminUrl, 'postgres');
  await withClient(maintenanceUrl, (client) =>
    client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`),
  );
  return {
    adminUrl: databaseUrl(server.adminUrl, name),
    serviceUrl: databaseUrl(server.serviceUrl, name),
    async drop() {
      await withClient(maintenanceUrl, (client) =>
        client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      );
    },
  };
}

async function askForServer(): Promise<TestServer> {
  const answer = JSON.parse(await text(connect(inject('testServerSocket')))) as TestServerAnswer;
  if ('error' in answer) throw new Error(`there is no test database: ${answer.error}`);
  return answer;
}
