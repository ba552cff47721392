/** Returns the headers of a signed request (https://www.standardwebhooks.com).
 *  @param secret `whsec_` followed by the key in base64
 *  @param nowMs the time of the request */
export async function signedHeaders(
  secret: string,
  id: string,
  nowMs: number,
  body: string,
): Promise<Record<string, string>> {
  const now = String(Math.floor(nowMs / 1000));
  const bytes = Uint8Array.from(atob(secret.slice('whsec_'.length)), (one) => one.charCodeAt(0));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
  const text = new TextEncoder().encode(`${id}.${now}.${body}`);
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, text));
  return {
    'webhook-id': id,
    'webhook-timestamp': now,
    'webhook-signature': `v1,${btoa(String.fromCharCode(...mac))}`,
  };
}

/** Whether this page can sign requests. Browsers offer cryptography only over HTTPS or on the local computer. */
export const canSign = globalThis.isSecureContext ?? true;
