declare const brand: unique symbol;

/** A `Base` that only a parser may produce: two brands never mix. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };
