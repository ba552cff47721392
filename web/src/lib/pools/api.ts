import { client, unwrap } from '#lib/api/client.ts';
import { randomKey } from '#lib/api/random-key.ts';
import type { components } from '#lib/api/schema.d.ts';

export type Pool = components['schemas']['Pool'];

export async function listPools(): Promise<Pool[]> {
  return (await unwrap(client.GET('/api/v1/pools', {}))).items;
}

export async function createPool(name: string, limit: number): Promise<void> {
  const params = { header: { 'Idempotency-Key': randomKey() } };
  await unwrap(client.POST('/api/v1/pools', { params, body: { name, limit } }));
}

export async function changePool(id: string, limit: number): Promise<void> {
  await unwrap(
    client.PATCH('/api/v1/pools/{pool_id}', {
      params: { path: { pool_id: id } },
      body: { limit },
      headers: { 'content-type': 'application/merge-patch+json' },
    }),
  );
}

export async function deletePool(id: string): Promise<void> {
  await unwrap(client.DELETE('/api/v1/pools/{pool_id}', { params: { path: { pool_id: id } } }));
}
