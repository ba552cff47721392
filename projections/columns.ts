/** The column names of a table, with their Postgres types. */
export type Columns<Row> = { readonly [Column in keyof Row & string]: string };
