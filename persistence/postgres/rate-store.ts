/** Rates of tokens over PostgreSQL. Treasury W12. */
import type { KeptRate, RateStore, TokenRate } from '../../model/ports/rate-store.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';

/** Far above the tokens of a registry, of which each has one at most. */
const RATES_MAX = 10_000;

export function createRateStore(sql: Sql): RateStore {
  return {
    async rate(chain, contract) {
      const [row] = await sql<Columns[]>`select * from token_rate where chain = ${chain} and contract = ${contract}`;
      return row === undefined ? null : rateOf(row);
    },
    async rates() {
      const rows = await sql<Columns[]>`select * from token_rate order by chain, contract limit ${RATES_MAX}`;
      return rows.map((row) => ({ ...rateOf(row), setBy: row['setBy'], setAtMs: row['setAt'] }) as KeptRate);
    },
    async save({ chain, contract, numerator, denominator, observedAtMs }, by) {
      const done = await sql`
        insert into token_rate as r (chain, contract, numerator, denominator, observed_at, set_by)
          values (${chain}, ${contract}, ${String(numerator)}::amount, ${String(denominator)}::amount,
                  ${observedAtMs}::timestamptz, ${by})
        on conflict (chain, contract) do update
          set numerator = excluded.numerator, denominator = excluded.denominator, observed_at = excluded.observed_at,
              set_by = excluded.set_by, set_at = clock_timestamp()
          where r.observed_at <= excluded.observed_at`;
      return done.count > 0;
    },
  };
}

const rateOf = ({ chain, contract, numerator, denominator, observedAt }: Columns): TokenRate =>
  ({ chain, contract, numerator, denominator, observedAtMs: observedAt }) as TokenRate;
