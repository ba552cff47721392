/** Generates identifiers. */
export interface Ids {
  /** A new UUIDv7 (RFC 9562): later IDs sort after earlier ones. */
  next(): string;
  /** The UUIDv5 of a cause and a name. The same pair results in the same ID on every machine, so repeating a
   *  reaction is harmless. */
  derived(cause: string, name: string): string;
}
