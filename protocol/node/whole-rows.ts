/**
 * Results as the server sent them. `postgres` 3.4.9 counts the rows of a statement in its connection and begins anew
 * only where one was completed: after a statement that failed behind its first rows (a division, its time limit, a
 * connection that ended) the next one on that connection is answered with as many holes before its rows. Its first row
 * reads as none, which says "not there" of what is there. Source: porsager/postgres#1119, #1181, open.
 */
import type { Sql } from 'postgres';

/** A query of the client as it is before it is asked: it is a promise, and settled through these. */
interface Query extends Promise<unknown> {
  resolve(result: unknown): void;
}

const isQuery = (value: unknown): value is Query =>
  value instanceof Promise && typeof (value as Partial<Query>).resolve === 'function';

/** No row is ever undefined: what is missing at the beginning was never there. */
function withoutHoles(result: unknown): unknown {
  if (!Array.isArray(result) || result.length === 0 || 0 in result) return result;
  result.splice(0, Number(Object.keys(result)[0] ?? result.length));
  return result;
}

/** Of several statements in one question the first alone may begin with holes. */
function whole(result: unknown): unknown {
  if (Array.isArray(result) && Array.isArray(result[0])) withoutHoles(result[0]);
  return withoutHoles(result);
}

function mended<Q>(query: Q): Q {
  if (!isQuery(query)) return query;
  const { resolve } = query;
  query.resolve = (result) => resolve(whole(result));
  return query;
}

/** The same client, whose answers hold every row and nothing else. */
export function withWholeRows<Client extends Sql>(client: Client): Client {
  const plain = client as unknown as Record<'unsafe' | 'file', (...given: unknown[]) => unknown> & {
    (...given: unknown[]): unknown;
    reserve?(): Promise<Sql>;
  };
  const ask = (...given: unknown[]): unknown => mended(plain(...given));
  const own = {
    unsafe: (...given: unknown[]) => mended(plain.unsafe(...given)),
    file: (...given: unknown[]) => mended(plain.file(...given)),
    ...(plain.reserve === undefined ? {} : { reserve: async () => withWholeRows(await plain.reserve!()) }),
  };
  return Object.assign(Object.setPrototypeOf(ask, plain) as object, own) as unknown as Client;
}
