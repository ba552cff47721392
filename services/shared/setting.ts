/** The type of a setting. */

/** What a parser returns for an invalid text. */
export const invalid = Symbol('invalid');

export interface Setting<T> {
  readonly variable: string;
  /** What is expected, for the message "expected …". */
  readonly expected: string;
  /** Whether the value is secret and never shown. */
  readonly secret: boolean;
  readonly parse: (text: string) => T | typeof invalid;
  /** Returns the value if the variable is missing or empty. If there is no such function, the setting is required. */
  readonly fallback?: (others: Others) => T;
}

/** Values of other settings that a default may depend on. */
export interface Others {
  readonly dataDir: string;
  readonly edition: 'minimal' | 'production';
}
