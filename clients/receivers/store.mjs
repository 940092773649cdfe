/** What the receivers for Node.js do with a verified event. DATABASE_URL has the table of `table.sql`. */
import postgres from 'postgres';
import { creditKey } from 'flock-client/webhooks';

const sql = postgres(process.env.DATABASE_URL, { max: 8, onnotice: () => undefined });

/**
 * Resolves once the event is on disk: answer 2xx after that, and never before. The newest word about a deposit stands,
 * however often and in whatever order its events come.
 */
export async function store({ event, data }) {
  if (event !== 'deposit_confirmed' && event !== 'deposit_reversed') return;
  const { chain, tokenContract, userRef, address, amount, incarnation } = data;
  await sql`
    insert into deposits (credit_key, incarnation, is_reversed, chain, token_contract, user_ref, address, amount)
    values (${creditKey({ data })}, ${incarnation}, ${event === 'deposit_reversed'}, ${chain}, ${tokenContract},
      ${userRef}, ${address}, ${amount})
    on conflict (credit_key) do update set incarnation = excluded.incarnation, is_reversed = excluded.is_reversed
    where (deposits.incarnation, deposits.is_reversed) < (excluded.incarnation, excluded.is_reversed)`;
}
