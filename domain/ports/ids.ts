/** A source of identifiers. */
export interface Ids {
  /** A new UUIDv7 (RFC 9562): later ids sort after earlier ones. */
  next(): string;
  /** The UUIDv5 of a cause and a name: the same pair gives the same id on every machine, which is
   *  what makes a repeated reaction harmless. */
  derived(cause: string, name: string): string;
}
