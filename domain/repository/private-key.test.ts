import { describe, expect, test } from 'vitest';
import { privateKeyProblem } from './private-key.ts';

function pem(kind: string, body: string): string {
  return `-----BEGIN ${kind}PRIVATE KEY-----\n${body}\n-----END ${kind}PRIVATE KEY-----\n`;
}

/** The beginning of a key in OpenSSH format. */
function openSsh(cipher: string): string {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(cipher.length);
  const content = Buffer.concat([Buffer.from('openssh-key-v1\0'), length, Buffer.from(cipher)]);
  return pem('OPENSSH ', content.toString('base64'));
}

describe('a private key', () => {
  test.each([openSsh('none'), pem('RSA ', 'AAAA'), pem('', 'AAAA')])(
    'without a passphrase is accepted: %j',
    (key) => {
      expect(privateKeyProblem(key)).toBeUndefined();
      expect(privateKeyProblem(key.replaceAll('\n', '\r\n'))).toBeUndefined();
    },
  );

  test.each([
    openSsh('aes256-ctr'),
    pem('ENCRYPTED ', 'AAAA'),
    pem('RSA ', 'Proc-Type: 4,ENCRYPTED\n\nAAAA'),
  ])('with a passphrase is refused: %j', (key) => {
    expect(privateKeyProblem(key)).toContain('has a passphrase');
  });

  test.each([
    '',
    'ssh-ed25519 AAAA',
    'PuTTY-User-Key-File-3: ssh-ed25519',
    openSsh('none').slice(0, 50),
  ])('in an unknown format is refused: %j', (text) => {
    expect(privateKeyProblem(text)).toContain('is not an SSH key');
  });
});
