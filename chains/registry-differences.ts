/**
 * What the next version of the registry has otherwise than the one in force, field by field: what administrators look
 * at before they sign and publish. Treasury K8.
 */
import { FIELDS_OF_DEPLOYMENTS, type Deployment, type Registry } from './catalogue.ts';
import { isSameWay } from './routes.ts';
import type { Chain } from '../protocol/slugs.ts';

export interface RegistryDifference {
  readonly symbol: string;
  /** Null of what is the token's on all its chains; of a route the chain that it comes from. */
  readonly chain: Chain | null;
  /** Where a route leads; null of a token. */
  readonly to: Chain | null;
  readonly contract: string | null;
  readonly field: string;
  /** As text; null where it was not there, or is there no more. */
  readonly was: string | null;
  readonly becomes: string | null;
}

const NOWHERE = { chain: null, to: null, contract: null };

/** In the order of the next version. Both are of one line: a deployment that is gone is no lawful succession. */
export function registryDifferences(current: Registry, next: Registry): RegistryDifference[] {
  const found: RegistryDifference[] = [];
  const compare = (
    at: Omit<RegistryDifference, 'field' | 'was' | 'becomes'>,
    field: string,
    a: unknown,
    b: unknown,
  ) => {
    const [was, becomes] = [textOf(a), textOf(b)];
    if (was !== becomes) found.push({ ...at, field, was, becomes });
  };
  for (const { symbol, name, deployments, unsupportedChains } of next.tokens) {
    const before = current.tokens.find((one) =>
      one.deployments.some((at) => deployments.some((now) => isOne(at, now))),
    );
    compare({ symbol, ...NOWHERE }, 'symbol', before?.symbol, symbol);
    compare({ symbol, ...NOWHERE }, 'name', before?.name, name);
    for (const now of deployments) {
      const was = before?.deployments.find((one) => isOne(one, now));
      const at = { symbol, chain: now.chain, to: null, contract: now.contract };
      for (const field of FIELDS_OF_DEPLOYMENTS) compare(at, field, was?.[field], now[field]);
    }
    for (const { chain, reason } of unsupportedChains) {
      const was = before?.unsupportedChains.find((one) => one.chain === chain)?.reason;
      compare({ symbol, ...NOWHERE, chain }, 'unsupported', was, reason);
    }
  }
  const ways = [...next.routes, ...current.routes.filter((was) => !next.routes.some((now) => isSameWay(was, now)))];
  for (const way of ways) {
    const status = ({ routes }: Registry) => (routes.some((one) => isSameWay(one, way)) ? 'open' : 'closed');
    const at = { symbol: way.symbol, chain: way.from, to: way.to, contract: null };
    compare(at, 'route', status(current), status(next));
  }
  return found;
}

const isOne = (a: Deployment, b: Deployment): boolean => a.chain === b.chain && a.contract === b.contract;

function textOf(value: unknown): string | null {
  if (value === undefined) return null;
  return Array.isArray(value) ? value.join(', ') : String(value);
}
