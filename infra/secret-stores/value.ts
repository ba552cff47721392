import { StoreFailure } from '#domain/ports/secret-stores.ts';
import { maxSecretBytes } from '#domain/secret/secret.ts';

/** @throws StoreFailure if the value cannot be a secret: it is empty, too long, or contains a NUL character */
export function checkedValue(value: string): string {
  if (value === '') throw new StoreFailure('the value is empty');
  if (value.includes('\0')) throw new StoreFailure('the value contains a NUL character');
  if (Buffer.byteLength(value) > maxSecretBytes) {
    throw new StoreFailure(`the value exceeds ${maxSecretBytes} bytes`);
  }
  return value;
}
