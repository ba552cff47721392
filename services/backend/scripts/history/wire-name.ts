/** Names of event types and fields on the wire. */
/** A name as it goes over the wire. */

export function wireName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
