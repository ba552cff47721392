declare const brand: unique symbol;

/** A `Base` value that a parser has validated. Types with different brands are not assignable to each other. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };
