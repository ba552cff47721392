/** Explains why a server did not respond. */
import { reasonOf } from '#services/shared/http-request.ts';

/** The errors of certificates whose authority is unknown to Node. */
const unknownAuthority: readonly unknown[] = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

/** The warning about a change whose response is missing. */
export const repeatWarning =
  'The server may have performed the request: check before you repeat it.';

/** The cause and the next step, in one sentence each.
 *  @param mayBeDone whether the server may have performed a change */
export function explainNoResponse(url: string, cause: unknown, mayBeDone = false): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (unknownAuthority.includes(code)) {
    return (
      `This machine does not trust the certificate of ${url} (${String(code)}). Set NODE_EXTRA_CA_CERTS=FILE to ` +
      'the certificate of its authority in PEM format.'
    );
  }
  const hint = 'Check that the server is running and the address is correct.';
  return `${url} does not respond (${reasonOf(cause)}). ${mayBeDone ? repeatWarning : hint}`;
}
