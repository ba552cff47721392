/** Looks up the digest of a tag in a registry, with the OCI distribution API. */
import type { ImageReference } from './references.ts';

const timeoutMs = 30_000;
/** Multi-platform types come first, so that the digest is valid on every platform. */
const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/** Returns a registry's URL. By default, this is HTTPS at the registry's host name. */
export type RegistryUrl = (host: string) => string;

/** Returns the current digest of the tag.
 *  @throws Error if the registry's response is unexpected */
export async function currentDigest(
  { name, tag }: Pick<ImageReference, 'name' | 'tag'>,
  urlOf: RegistryUrl = (host) => `https://${host}`,
): Promise<string> {
  const { host, repository } = placeOf(name);
  const url = `${urlOf(host)}/v2/${repository}/manifests/${tag}`;
  let answer = await ask(url);
  if (answer.status === 401) answer = await ask(url, await tokenFor(answer, repository));
  if (!answer.ok) throw new Error(`${url} returned status ${answer.status}`);
  const digest = answer.headers.get('docker-content-digest') ?? '';
  if (!/^sha256:[0-9a-f]{64}$/.test(digest))
    throw new Error(`${url} returned no digest: "${digest}"`);
  return digest;
}

/** As in container engines, the first part is a host if it contains a dot or a colon, or if it is `localhost`. */
function placeOf(name: string): { readonly host: string; readonly repository: string } {
  const [first = '', ...rest] = name.split('/');
  if (rest.length > 0 && /[.:]|^localhost$/.test(first))
    return { host: first, repository: rest.join('/') };
  return { host: 'registry-1.docker.io', repository: rest.length === 0 ? `library/${name}` : name };
}

async function ask(url: string, token?: string): Promise<Response> {
  return await fetch(url, {
    // HEAD requests do not count against a registry's pull limit.
    method: 'HEAD',
    headers: {
      Accept: manifestTypes,
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    },
    signal: AbortSignal.timeout(timeoutMs),
  });
}

/** Requests an anonymous token. */
async function tokenFor(refusal: Response, repository: string): Promise<string> {
  const challenge = refusal.headers.get('www-authenticate') ?? '';
  const [, realm] = /^Bearer\b.*\brealm="([^"]+)"/i.exec(challenge) ?? [];
  if (realm === undefined)
    throw new Error(`${refusal.url} requires an unsupported authentication scheme: "${challenge}"`);
  const url = new URL(realm);
  const [, service] = /\bservice="([^"]+)"/i.exec(challenge) ?? [];
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', `repository:${repository}:pull`);
  const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  if (!answer.ok) throw new Error(`${url.href} returned status ${answer.status}`);
  const { token, access_token: accessToken } = (await answer.json()) as {
    readonly token?: string;
    readonly access_token?: string;
  };
  const given = token ?? accessToken;
  if (given === undefined) throw new Error(`${url.href} returned no token`);
  return given;
}
