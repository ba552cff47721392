/** Generates identifiers. */
export interface Ids {
  /** Returns a new UUIDv7 (RFC 9562). Later IDs sort after earlier IDs. */
  next(): string;
  /** Returns the UUIDv5 of a cause and a name. The same cause and name result in the same ID on every machine, so
   *  repeating a reaction is harmless. */
  derived(cause: string, name: string): string;
}
