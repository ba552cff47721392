/** Validates SSH private keys that users paste. */

const block = /-----BEGIN ([A-Z ]*)PRIVATE KEY-----([\s\S]+?)-----END \1PRIVATE KEY-----/;
const openSshMagic = 'openssh-key-v1\0';

/** Describes the problem with a key. Returns `undefined` if the key is usable. */
export function privateKeyProblem(text: string): string | undefined {
  const [, kind, body = ''] = block.exec(text) ?? [];
  if (kind === undefined)
    return 'is not an SSH key. Paste the whole file, from "-----BEGIN" to "-----END"';
  return isEncrypted(kind.trim(), body)
    ? 'has a passphrase. Use a key without one, which can only access this repository'
    : undefined;
}

function isEncrypted(kind: string, body: string): boolean {
  if (kind === 'ENCRYPTED' || /Proc-Type:\s*4,ENCRYPTED/.test(body)) return true;
  if (kind !== 'OPENSSH') return false;
  const content = Buffer.from(body, 'base64');
  // The next field is the cipher name, preceded by its length.
  const start = openSshMagic.length;
  if (content.length < start + 4) return false;
  const length = content.readUInt32BE(start);
  return content.toString('latin1', start + 4, start + 4 + length) !== 'none';
}
