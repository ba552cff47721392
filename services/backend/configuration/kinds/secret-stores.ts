/** External secret stores in a configuration. An import keeps an existing credential, unless the document contains a
 *  new one. */
import { mustParse, parseGroupId, parseSecretStoreId } from '#domain/kernel/ids.ts';
import type { SecretStoreSettings } from '#domain/secret-store/store.ts';
import { listSecretStores } from '#projections/secret-stores/queries.ts';
import { isProblem } from '../../http/problem.ts';
import { readConnection } from '../../secret-stores/connection.ts';
import { settingsJson } from '../../secret-stores/view.ts';
import type { Given, Keeping, Kind } from '../kind.ts';

const noCredential = 'Secrets in the store cannot be read until its credential is set.';

export const secretStoreKind: Kind<'secret_stores'> = {
  kind: 'secret_store',
  section: 'secret_stores',
  stream: 'secret_store',
  present: async ({ services: { readModels } }) =>
    (await listSecretStores(readModels)).map(({ secret_store_id: id, settings, sealed }) => {
      const secretStoreId = mustParse(parseSecretStoreId, id);
      return {
        item: itemOf(id, settings),
        hidden: false,
        change: (given) => {
          const connection = readConnection(given.type, given, settings.connection);
          if (isProblem(connection)) return Promise.resolve(connection);
          const wanted = settingsOf(given, connection);
          return Promise.resolve({
            item: {
              ...itemOf(id, wanted),
              ...(given.credential !== undefined && { credential: 'entered' }),
            },
            ...missing(wanted, sealed !== null || given.credential !== undefined),
            commands: async (keeping) => [
              {
                type: 'ChangeSecretStore',
                secretStoreId,
                ...wanted,
                ...(given.credential !== undefined && { sealed: await seal(given, keeping) }),
              },
            ],
          });
        },
        remove: () => ({ type: 'DeleteSecretStore', secretStoreId }),
      };
    }),
  make: (given) => {
    const connection = readConnection(given.type, given);
    if (isProblem(connection)) return Promise.resolve(connection);
    const wanted = settingsOf(given, connection);
    const secretStoreId = mustParse(parseSecretStoreId, given.id);
    return Promise.resolve({
      item: itemOf(given.id, wanted),
      ...missing(wanted, given.credential !== undefined),
      commands: async (keeping) => {
        const sealed = await seal(given, keeping);
        return [{ type: 'CreateSecretStore', secretStoreId, ...wanted, sealed }];
      },
    });
  },
};

function settingsOf(
  { name, group_ids: groups }: Given<'secret_stores'>,
  connection: SecretStoreSettings['connection'],
): SecretStoreSettings {
  const groupIds = groups?.map((id) => mustParse(parseGroupId, id)) ?? null;
  return { name, groupIds, connection };
}

/** Formats a store for the document, with only the fields of its type. */
function itemOf(id: string, { name, groupIds, connection }: SecretStoreSettings) {
  const fields = Object.entries(settingsJson(connection)).filter(([, value]) => value !== null);
  return { id, name, type: connection.type, group_ids: groupIds, ...Object.fromEntries(fields) };
}

function missing({ connection: { type } }: SecretStoreSettings, hasCredential: boolean) {
  if (type === 'files' || hasCredential) return {};
  return { missing: ['credential'], note: noCredential };
}

async function seal({ id, credential }: Given<'secret_stores'>, keeping: Keeping) {
  return credential === undefined ? null : await keeping.credential(id, credential);
}
