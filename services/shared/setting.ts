/** What a setting is. */

/** What a parser answers for text that means nothing to it. */
export const invalid = Symbol('invalid');

export interface Setting<T> {
  readonly variable: string;
  /** Completes "expected …". */
  readonly expected: string;
  /** A secret's value is never shown. */
  readonly secret: boolean;
  readonly parse: (text: string) => T | typeof invalid;
  /** The value where the variable is missing or empty. Without it the setting is required. */
  readonly fallback?: (others: Others) => T;
}

/** What a default may depend on. */
export interface Others {
  readonly dataDir: string;
  readonly edition: 'minimal' | 'production';
}
