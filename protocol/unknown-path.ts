/**
 * What a request gets that no route serves: 405 with the methods of its path, or 404 with the route that was probably
 * meant.
 */
import { refuse, type Refusal } from './errors.ts';
import { stepsBetween } from './nearest.ts';
import { pathMatches } from './route.ts';
import { ROUTE_LIST } from './routes.ts';

type Entry = Pick<(typeof ROUTE_LIST)[number], 'method' | 'path'>;

const PATH_CHARS_MAX = 200;
/** No route has so many parts, and nobody mistypes one into so many: they are not compared. */
const PARTS_MAX = 16;
/** Where the API is described. */
const DOCS = '/docs and /v1/openapi.json of the cloud';

/** The answer to a scrape that is not let in: that of a path which no route serves. */
export const noMetrics = (): Refusal =>
  refuse(
    'NOT_FOUND',
    { method: 'GET', path: '/metrics', docs: DOCS },
    'no route GET /metrics here for you; METRICS_ALLOW and METRICS_TOKEN_FILE of this process say for whom',
  );

/**
 * Refuses: METHOD_NOT_ALLOWED with `allowed`, NOT_FOUND with the nearest of the served routes. `elsewhere` names the
 * deployment that serves what this one does not.
 */
export function unknownPath(
  method: string,
  path: string,
  served: readonly Entry[],
  elsewhere: 'edge' | 'cloud',
): { readonly refusal: Refusal; readonly allow: string | null } {
  const shown = path.slice(0, PATH_CHARS_MAX);
  const allowed = methodsAt(path, served);
  if (allowed.length > 0) {
    // A mistyped last part may be taken for a parameter: the path is one, and another was meant.
    const meant = nearestRoute(
      method,
      path,
      served.filter((route) => route.method === method),
    );
    return {
      allow: allowed.join(', '),
      refusal: refuse(
        'METHOD_NOT_ALLOWED',
        { method, path: shown, allowed, ...(meant === null ? {} : { nearest: meant }), docs: DOCS },
        `${shown} takes ${allowed.join(', ')}, not ${method}${meant === null ? '' : `; did you mean ${meant}?`}`,
      ),
    };
  }
  const there = methodsAt(path, ROUTE_LIST),
    nearest = nearestRoute(method, path, served);
  const details = {
    method,
    path: shown,
    ...(there.length > 0 ? { servedBy: elsewhere } : nearest === null ? {} : { nearest }),
    docs: DOCS,
  };
  const advice = there.length > 0 ? `the ${elsewhere} serves it` : nearest === null ? '' : `did you mean ${nearest}?`;
  return {
    allow: null,
    refusal: refuse(
      'NOT_FOUND',
      details,
      [`no route ${method} ${shown} here`, advice, `the API is described at ${DOCS}`]
        .filter((part) => part !== '')
        .join('; '),
    ),
  };
}

function methodsAt(path: string, routes: readonly Entry[]): string[] {
  if (path.split('/', PARTS_MAX + 1).length > PARTS_MAX) return [];
  return [...new Set(routes.filter((route) => pathMatches(route.path, path)).map(({ method }) => method))];
}

/** The parts of each route's path, made once: a path that nobody serves costs its caller nothing. */
const templates = new Map<string, readonly string[]>();

function templateOf(path: string): readonly string[] {
  const known = templates.get(path) ?? partsOf(path);
  templates.set(path, known);
  return known;
}

/** The route whose path differs least, part by part; of several the one of the same method. */
function nearestRoute(method: string, path: string, served: readonly Entry[]): string | null {
  const given = partsOf(path.slice(0, PATH_CHARS_MAX)),
    parts = /^v[0-9]+$|^(?:health|metrics|docs)$/.test(given[0] ?? '') ? given : ['v1', ...given];
  if (parts.length > PARTS_MAX) return null;
  let least = Math.max(3, Math.floor(parts.join('').length / 3)),
    near: Entry[] = [];
  for (const route of served) {
    const cost = costOf(parts, templateOf(route.path), least);
    if (cost < least) [least, near] = [cost, [route]];
    else if (cost === least) near.push(route);
  }
  const best = near.find((route) => route.method === method) ?? near[0];
  return best === undefined ? null : `${best.method} ${best.path}`;
}

const partsOf = (path: string): string[] =>
  path
    .toLowerCase()
    .split('/')
    .filter((part) => part !== '');

/**
 * A parameter takes any part; a part too many or too few costs its letters, a parameter's four. What costs more than
 * `most` is not reckoned to its end.
 */
function costOf(parts: readonly string[], template: readonly string[], most: number): number {
  const length = Math.max(parts.length, template.length);
  let cost = 0;
  for (let at = 0; at < length && cost <= most; at += 1) {
    const part = parts[at] ?? '',
      wanted = template[at] ?? '';
    if (wanted.startsWith('{')) cost += part === '' ? 4 : 0;
    else if (part !== wanted)
      cost += Math.abs(part.length - wanted.length) > most ? most + 1 : stepsBetween(part, wanted);
  }
  return cost;
}
