/** Defines the type of a setting. */

/** The result of a parser for invalid text. */
export const invalid = Symbol('invalid');

export interface Setting<T> {
  readonly variable: string;
  /** Completes the message "expected …". */
  readonly expected: string;
  /** Whether the value is secret and must never be displayed. */
  readonly secret: boolean;
  readonly parse: (text: string) => T | typeof invalid;
  /** Returns the value to use if the variable is missing or empty. A setting without this function is required. */
  readonly fallback?: (others: Others) => T;
}

/** The values of other settings on which a default may depend. */
export interface Others {
  readonly dataDir: string;
  readonly edition: 'minimal' | 'production';
}
