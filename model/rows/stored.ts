/**
 * A row that an append stores as it is, without an encoder of its own (`persistence/postgres/append/rows.ts`):
 *
 *   field                    column
 *   userRef: 'x'             user_ref    text, numbers, booleans, null and lists of text as they are
 *   amount: 1n               amount      a bigint as decimal text
 *   createdAtMs: 0           created_at  what ends in `Ms` as an instant; null stays null
 */
export interface StoredWrite<Table extends string, Row> {
  /** The array of the batch that `append_<part>.sql` reads. */
  readonly table: Table;
  readonly row: Readonly<Row>;
  /** Of several rows with one key in one append the last one counts. */
  readonly key: string;
}
