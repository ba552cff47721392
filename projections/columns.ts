/** Names of a table's columns with their Postgres types. */
export type Columns<Row> = { readonly [Column in keyof Row & string]: string };
