/** A secret store that uses the key/value engine (version 1 or 2) of HashiCorp Vault or OpenBao. */
import { StoreFailure, type SecretStore } from '#domain/ports/secret-stores.ts';
import { placeProblem, type StorePlace, type VaultConnection } from '#domain/secret-store/store.ts';
import { beginningOf, send } from '#infra/outgoing/send.ts';
import { TargetRefused, type Targets } from '#infra/outgoing/targets.ts';
import type { TokenCache } from './token-cache.ts';
import { checkedValue } from './value.ts';

const maxResponseBytes = 4 * 1024 * 1024;

export interface VaultStoreOptions {
  readonly connection: VaultConnection;
  /** Either a token, or the secret ID of an AppRole. */
  readonly credential: string;
  readonly targets: Targets;
  readonly tokens: TokenCache;
  /** The store's key in the token cache, which depends on its settings. */
  readonly cacheKey: string;
}

interface VaultResponse {
  readonly status: number;
  readonly body: unknown;
}

export class VaultStore implements SecretStore {
  readonly #options: VaultStoreOptions;
  /** The values at each path read so far. */
  readonly #read = new Map<string, Promise<Readonly<Record<string, unknown>>>>();

  constructor(options: VaultStoreOptions) {
    this.#options = options;
  }

  async read(place: StorePlace, signal: AbortSignal): Promise<string> {
    const { path, key } = place;
    const problem = path === '' ? 'the path is empty' : placeProblem(place);
    if (problem !== undefined) throw new StoreFailure(problem);
    const values = this.#read.get(path) ?? this.#valuesAt(path, signal);
    this.#read.set(path, values);
    const value = Object.entries(await values).find(([name]) => name === key)?.[1];
    if (value === undefined || value === null) {
      throw new StoreFailure(`the path has no key "${key}"`);
    }
    return checkedValue(typeof value === 'string' ? value : JSON.stringify(value));
  }

  async check(signal: AbortSignal): Promise<void> {
    const { status } = await this.#withToken('auth/token/lookup-self', signal);
    if (status !== 200) throw unexpected(status);
  }

  async #valuesAt(path: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const { mount, kvVersion } = this.#options.connection;
    const { status, body } = await this.#withToken(
      [mount, ...(kvVersion === 2 ? ['data'] : []), path].join('/'),
      signal,
    );
    // For a deleted version, KV 2 returns 404 with metadata.
    if (status === 404) throw new StoreFailure('the path does not exist');
    if (status !== 200) throw unexpected(status);
    const data = memberOf(body, 'data');
    const values = kvVersion === 2 ? memberOf(data, 'data') : data;
    if (typeof values !== 'object' || values === null) {
      throw new StoreFailure(
        'the response has no values; check the version of the key/value engine',
      );
    }
    return values as Readonly<Record<string, unknown>>;
  }

  /** Signs in again if the server refuses the cached token, because the token may have been revoked. */
  async #withToken(path: string, signal: AbortSignal): Promise<VaultResponse> {
    const { connection, credential, tokens, cacheKey } = this.#options;
    const { auth } = connection;
    if (auth.type === 'token') return await this.#get(path, credential, signal);
    const cached = tokens.get(cacheKey);
    if (cached !== undefined) {
      const response = await this.#get(path, cached, signal);
      if (response.status !== 403) return response;
      tokens.delete(cacheKey);
    }
    return await this.#get(path, await this.#signIn(auth, signal), signal);
  }

  async #signIn(
    { mount, roleId }: { readonly mount: string; readonly roleId: string },
    signal: AbortSignal,
  ): Promise<string> {
    const { credential, tokens, cacheKey } = this.#options;
    const body = JSON.stringify({ role_id: roleId, secret_id: credential });
    const { status, body: answer } = await this.#request(
      { path: `auth/${mount}/login`, body },
      signal,
    );
    const auth = memberOf(answer, 'auth');
    const token = memberOf(auth, 'client_token');
    if (status === 400 || status === 403) {
      throw new StoreFailure('the server refused the role ID or the secret ID');
    }
    if (status !== 200 || typeof token !== 'string') throw unexpected(status);
    tokens.set(cacheKey, token, Number(memberOf(auth, 'lease_duration')));
    return token;
  }

  async #get(path: string, token: string, signal: AbortSignal): Promise<VaultResponse> {
    return await this.#request({ path, token }, signal);
  }

  async #request(
    {
      path,
      token,
      body,
    }: { readonly path: string; readonly token?: string; readonly body?: string },
    signal: AbortSignal,
  ): Promise<VaultResponse> {
    const { connection, targets } = this.#options;
    const { address, namespace } = connection;
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    const url = new URL(`${address.replace(/\/+$/, '')}/v1/${encoded}`);
    const headers = {
      'X-Vault-Request': 'true',
      ...(token !== undefined && { 'X-Vault-Token': token }),
      ...(namespace !== null && { 'X-Vault-Namespace': namespace }),
    };
    const request = {
      method: body === undefined ? ('GET' as const) : ('POST' as const),
      url,
      headers,
      ...(body !== undefined && { body }),
    };
    try {
      const response = await send(request, targets, signal);
      const text = await beginningOf(response, maxResponseBytes);
      if (Buffer.byteLength(text) >= maxResponseBytes) {
        throw new StoreFailure('the response of the server exceeds 4 MiB');
      }
      return { status: response.statusCode ?? 0, body: parsed(text) };
    } catch (cause) {
      throw new StoreFailure(reasonOf(cause, signal), { cause });
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

/** Responses are not quoted, because their content is untrusted. */
function unexpected(status: number): StoreFailure {
  if (status === 403) return new StoreFailure('the server refused access');
  if (status === 503) return new StoreFailure('the server is sealed or in maintenance');
  if (status >= 300 && status < 400) {
    return new StoreFailure('the server returned a redirect, which is not followed');
  }
  return new StoreFailure(`the server returned status ${status}`);
}

function reasonOf(cause: unknown, signal: AbortSignal): string {
  if (cause instanceof TargetRefused || cause instanceof StoreFailure) return cause.message;
  if (signal.aborted) return 'the server did not answer in time';
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return `the server cannot be reached${code}`;
}
