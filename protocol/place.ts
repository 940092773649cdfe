/**
 * Where each operation of THE route table is asked, for callers that carry no schemas: the typed client, and with it
 * the console and applications in a browser. The compiler holds the table to the route table, both ways.
 */
import { OPERATIONS } from './operations.ts';
import type { ROUTES } from './routes.ts';
import type { Method } from './route.ts';

type Table = typeof ROUTES;
/** `bare`: the answer is the document itself, without an envelope. */
type Place<O extends keyof Table> = Table[O] extends { readonly bare: string }
  ? `${Table[O]['method']} ${Table[O]['path']} bare`
  : `${Table[O]['method']} ${Table[O]['path']}`;

const PLACES: { readonly [O in keyof Table]: Place<O> } = OPERATIONS;

/** Method and path template of an operation, and whether its answer has no envelope. */
export function placeOf(operationId: keyof Table): { method: Method; path: string; isBare: boolean } {
  const [method, path, bare] = PLACES[operationId].split(' ') as [Method, string, string | undefined];
  return { method, path, isBare: bare !== undefined };
}

/** `/v1/addresses/{id}` with the parameters put in, percent-encoded. Throws: a parameter is missing. */
export function pathOf(template: string, params: Readonly<Record<string, string>>): string {
  return template.replace(/\{([a-zA-Z]+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new TypeError(`path parameter ${name} is missing`);
    return encodeURIComponent(value);
  });
}
