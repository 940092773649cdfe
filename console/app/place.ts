/** Addresses of the console: organization, environment, page and filters. No browser is asked. Console C6. */
import type { Environment } from '../../protocol/slugs.ts';

export const BASE = '/console';

export interface Place {
  /** Below `/console`, without organization and environment: `/addresses/adr_…`. */
  readonly path: string;
  readonly organizationId: string | null;
  readonly environment: Environment | null;
  readonly query: Readonly<Record<string, string>>;
}

const SCOPED = /^\/o\/(org_[a-z2-7]{26})\/(live|sandbox)(\/.*)?$/;

/** Reads an address of the console. */
export function placeOf(pathname: string, search: string): Place {
  const below = pathname.startsWith(BASE) ? pathname.slice(BASE.length).replace(/\/+$/, '') : '';
  const query = Object.fromEntries(new URLSearchParams(search));
  const scoped = SCOPED.exec(below);
  return scoped === null
    ? { path: below === '' ? '/' : below, organizationId: null, environment: null, query }
    : {
        path: scoped[3] ?? '/',
        organizationId: scoped[1]!,
        environment: scoped[2] as Environment,
        query,
      };
}

export const queryText = (query: Readonly<Record<string, string | undefined>>): string => {
  const kept = Object.entries(query).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '',
  );
  return kept.length === 0 ? '' : `?${new URLSearchParams(kept).toString()}`;
};

/** The address of a page in an organization and environment. */
export function hrefOf(
  scope: { organizationId: string; environment: Environment },
  path: string,
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  return `${BASE}/o/${scope.organizationId}/${scope.environment}${path === '/' ? '' : path}${queryText(query)}`;
}
