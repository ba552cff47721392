declare const brand: unique symbol;

/** A `Base` that only a parser can produce. Different brands are not assignable to each other. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };
