/** The first answer to an Idempotency-Key, saved in the statement that creates what it describes. I23. */
import type { FirstAnswer } from '../../model/ports/identity-store.ts';
import type { Fragment, Sql } from './sql.ts';

/** An answer as `save_idempotent` takes it. */
export const answerRow = ({ owner, key, method, path, bodyHash, status, body }: FirstAnswer) => ({
  account_id: owner,
  key,
  method,
  path,
  body_hash: bodyHash,
  status,
  body: JSON.stringify(body),
});

/** Call that saves an answer; false when its key was used before. */
export const savingOf = (sql: Sql, answer: FirstAnswer): Fragment =>
  sql`save_idempotent(${JSON.stringify(answerRow(answer))}::text::jsonb)`;

/**
 * `from` clause with one row, and with none when the answer's key was used before: what is selected from it happens
 * with the answer or not at all. Of two at the same time the later one waits for the first.
 */
export function onlyFirst(sql: Sql, answer: FirstAnswer | undefined): Fragment {
  return answer === undefined
    ? sql`(select true) kept(is_first)`
    : sql`(select ${savingOf(sql, answer)} as is_first offset 0) kept where kept.is_first`;
}
