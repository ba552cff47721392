/** Encodes webhook requests for storage. The stored form is one line of JSON with the headers, followed by the
 *  unchanged body. A single hash therefore covers both. */

/** Matches headers that describe the body and its origin. Header names are in lower case. */
const keptHeaders =
  /^(?:content-type|content-encoding|user-agent|webhook-id|webhook-timestamp|x-[a-z0-9-]*(?:event|delivery|hook-id|request-id|topic))$/;
const maxHeaderBytes = 1024;

/** Encodes a request. @param headers the headers by lower-case name */
export function webhookPayload(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  body: Uint8Array,
): Uint8Array {
  const kept = Object.entries(headers).filter(
    ([name, value]) =>
      typeof value === 'string' && keptHeaders.test(name) && value.length <= maxHeaderBytes,
  );
  const line = new TextEncoder().encode(`${JSON.stringify(Object.fromEntries(kept))}\n`);
  const all = new Uint8Array(line.length + body.length);
  all.set(line);
  all.set(body, line.length);
  return all;
}

/** Splits a stored request into its headers, as JSON text, and its body. */
export function splitWebhookPayload(stored: Uint8Array): {
  readonly headers: string;
  readonly body: Uint8Array;
} {
  const end = stored.indexOf(0x0a);
  return {
    headers: new TextDecoder().decode(stored.subarray(0, end)),
    body: stored.subarray(end + 1),
  };
}
