/**
 * What the pools of a node do: how many statements are under way, and how long each took, by the SQL function that it
 * calls. Counted here in plain numbers; a scrape of /metrics reads them. Ecosystem X49.
 */
import { readdirSync } from 'node:fs';
import type { Sql } from './sql.ts';

const FOLDER = new URL('./functions/', import.meta.url);
/** A statement of several functions is called by its first; one of none, and any text that is put together, `other`. */
const OTHER = 'other';
const CALL = /\b([a-z][a-z0-9_]*)\s*\(/g;

/** All names that a statement is counted under. */
export const STATEMENT_NAMES: readonly string[] = [
  ...readdirSync(FOLDER)
    .map((file) => file.replace(/\.sql$/, ''))
    .sort(),
  OTHER,
];
const KNOWN: ReadonlySet<string> = new Set(STATEMENT_NAMES);

/** The pools of a node; the catalogue of metrics has the same names. */
export type PoolName = 'main' | 'lists' | 'background';

export interface PoolFigures {
  readonly connections: number;
  /** Statements that were asked and have not ended: more than there are connections means that some wait. */
  readonly underWay: number;
}

export interface StatementTotals {
  readonly count: number;
  readonly seconds: number;
}

export interface StatementTimes {
  /** The same client, its statements counted for a pool. */
  watch(client: Sql, pool: PoolName, connections: number): Sql;
  pools(): ReadonlyMap<PoolName, PoolFigures>;
  /** Since the start, by name. */
  statements(): ReadonlyMap<string, StatementTotals>;
}

/** A query of the client before it is asked; it is asked by `handler` and settled by the other two. */
interface Query extends Promise<unknown> {
  handler: ((query: unknown) => unknown) & { debug?: unknown };
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

const isQuery = (value: unknown): value is Query =>
  value instanceof Promise && typeof (value as Partial<Query>).handler === 'function';

/** What the text of a statement is called. */
export function statementName(text: string): string {
  for (const [, name] of text.matchAll(CALL)) if (KNOWN.has(name!)) return name!;
  return OTHER;
}

export function createStatementTimes(elapsedMs: () => number = () => performance.now()): StatementTimes {
  const pools = new Map<PoolName, { connections: number; underWay: number }>();
  const totals = new Map<string, { count: number; seconds: number }>(
    STATEMENT_NAMES.map((name) => [name, { count: 0, seconds: 0 }]),
  );
  /** By place in the code: a template's strings are made once. */
  const names = new WeakMap<object, string>();
  function nameOf(strings: unknown): string {
    if (!Array.isArray(strings)) return OTHER;
    let name = names.get(strings);
    if (name === undefined) names.set(strings, (name = statementName(strings.join(' '))));
    return name;
  }
  function counted(query: unknown, strings: unknown, pool: { underWay: number }): unknown {
    if (!isQuery(query)) return query;
    const { handler, resolve, reject } = query;
    let askedMs: number | null = null;
    const end = (): void => {
      if (askedMs === null) return;
      const total = totals.get(nameOf(strings))!;
      total.count += 1;
      total.seconds += (elapsedMs() - askedMs) / 1_000;
      askedMs = null;
      pool.underWay -= 1;
    };
    query.handler = Object.assign(
      (asked: unknown) => {
        askedMs = elapsedMs();
        pool.underWay += 1;
        return handler(asked);
      },
      { debug: handler.debug },
    );
    query.resolve = (result) => {
      end();
      resolve(result);
    };
    query.reject = (error) => {
      end();
      reject(error);
    };
    return query;
  }
  return {
    watch(client, name, connections) {
      const pool = { connections, underWay: 0 };
      pools.set(name, pool);
      const plain = client as unknown as (...given: unknown[]) => unknown;
      const ask = (...given: unknown[]): unknown => counted(plain(...given), given[0], pool);
      return Object.setPrototypeOf(ask, client) as Sql;
    },
    pools: () => pools,
    statements: () => totals,
  };
}
