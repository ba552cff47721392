/** The type of a setting. */

/** The result of a parser for invalid text. */
export const invalid = Symbol('invalid');

export interface Setting<T> {
  readonly variable: string;
  /** The rest of the message "expected …". */
  readonly expected: string;
  /** Whether the value is secret and never shown. */
  readonly secret: boolean;
  readonly parse: (text: string) => T | typeof invalid;
  /** The value if the variable is missing or empty. Without a default, the setting is required. */
  readonly fallback?: (others: Others) => T;
}

/** The values that a default may depend on. */
export interface Others {
  readonly dataDir: string;
  readonly edition: 'minimal' | 'production';
}
