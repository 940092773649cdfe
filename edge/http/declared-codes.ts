/**
 * Whether the code of each refusal is declared for its route, so that clients could prepare for it. Looked at when an
 * answer has left: it counts and logs, and never changes an answer. Tests fail on a code of the edge's own.
 */
import { ERRORS } from '../../protocol/errors.ts';
import { codesOf } from '../../protocol/route.ts';
import type { EdgeRoute } from './exchange.ts';

/** Who refused: this edge, or the cloud in an answer that was passed on. */
export type Refuser = 'edge' | 'cloud';

/** The line of a refusal whose route does not declare its code. */
export const UNDECLARED = 'undeclared_refusal';

export interface Undeclared {
  readonly operationId: string;
  /** A code of the error table, or `unknown`: the cloud's text is not repeated. */
  readonly code: string;
  readonly by: Refuser;
}

export class DeclaredCodes {
  /** By method and path template, as the server has it. */
  readonly #routes = new Map<string, EdgeRoute>();
  readonly #codes = new Map<EdgeRoute, ReadonlySet<string>>();
  readonly #refused = new WeakMap<object, { readonly code: string; readonly by: Refuser }>();

  readonly #ofNone = new WeakSet<object>();

  /** A route that the server serves under this template. HEAD is answered as GET. */
  serves(url: string, route: EdgeRoute): void {
    this.#routes.set(`${route.method} ${url}`, route);
  }

  /** A path that another parser would read otherwise is no route's, whatever route it was matched with. */
  isOfNone(request: object): void {
    this.#ofNone.add(request);
  }

  /** The code that answers a request; the last one counts. */
  note(request: object, code: string, by: Refuser): void {
    this.#refused.set(request, { code, by });
  }

  /** The refusal of a request that its route does not declare; null for every other answer. */
  undeclared(request: object, method: string, url: string | undefined): Undeclared | null {
    const refused = this.#refused.get(request),
      route = this.#routes.get(`${method === 'HEAD' ? 'GET' : method} ${url ?? ''}`);
    if (refused === undefined || route === undefined || this.#ofNone.has(request)) return null;
    const declared = this.#codes.get(route) ?? new Set<string>(codesOf(route));
    this.#codes.set(route, declared);
    if (declared.has(refused.code)) return null;
    const { code, by } = refused;
    return { operationId: route.operationId, code: Object.hasOwn(ERRORS, code) ? code : 'unknown', by };
  }
}
