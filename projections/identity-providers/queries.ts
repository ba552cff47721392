import type { IdentityProviderId } from '#domain/kernel/ids.ts';
import type { ReadModels } from '../projection.ts';
import type { IdentityProvidersTable } from './table.ts';

/** Returns an identity provider, or `undefined` if it does not exist. */
export async function findIdentityProvider(
  db: ReadModels,
  id: IdentityProviderId,
): Promise<IdentityProvidersTable | undefined> {
  return await present(db).where('identity_provider_id', '=', id).executeTakeFirst();
}

/** Returns the identity provider to which a redirect URI belongs, or `undefined` if it does not exist. */
export async function findIdentityProviderBySlug(
  db: ReadModels,
  slug: string,
): Promise<IdentityProvidersTable | undefined> {
  return await present(db).where('slug', '=', slug).executeTakeFirst();
}

/** Returns all identity providers, sorted by name. An installation has only a few. */
export async function listIdentityProviders(
  db: ReadModels,
): Promise<readonly IdentityProvidersTable[]> {
  return await present(db).orderBy('slug').execute();
}

function present(db: ReadModels) {
  return db.selectFrom('identity_providers').selectAll().where('deleted', '=', false);
}
