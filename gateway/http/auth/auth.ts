/** Everything that proves who asks, wired once for REST and for the edge stream. */
import type { GatewayDeps } from '../../deps.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { createHandshakeLimit } from '../admission.ts';
import { createAuthorities, type Authorities } from './authorities.ts';
import { createApiKeys, type ApiKeys } from './api-keys.ts';
import { createBearers } from './bearer.ts';
import { createCredentials, type Credentials } from './credentials.ts';
import { createEdgeSignatures, type EdgeSignatures } from './edge-signature.ts';
import { createPasskeys, type Passkeys } from './passkeys.ts';
import { createIssuer, type Issuer } from './issuer.ts';
import { createStandings, type Standings } from './standings.ts';
import { createSecondFactor, type SecondFactor } from './totp.ts';

export interface Auth {
  readonly apiKeys: ApiKeys;
  readonly signatures: EdgeSignatures;
  readonly issuer: Issuer;
  readonly secondFactor: SecondFactor;
  readonly passkeys: Passkeys;
  readonly credentials: Credentials;
  readonly standings: Standings;
  readonly authorities: Authorities;
  /** Counts a handshake of the edge stream. Refuses: RATE_LIMIT_EXCEEDED. */
  readonly handshakes: (accountId: AccountId) => Promise<Refusal | null>;
  /** Calls with the id of a user, or of an organization, whose logins, roles or keys changed on this node. */
  onDoubt(listener: (id: string) => void): void;
}

export async function createAuth({
  stores,
  accounts,
  secrets,
  nowMs,
  config,
  rateLimiter,
}: GatewayDeps): Promise<Auth> {
  const listeners: ((id: string) => void)[] = [];
  const doubt = (id: string): void => listeners.forEach((listener) => listener(id));
  const elapsedMs = (): number => performance.now();
  const apiKeys = createApiKeys(stores.identity, elapsedMs, nowMs, doubt);
  const issuer = await createIssuer({ identity: stores.identity, secrets, nowMs, issuerUrl: config.publicUrl });
  const standings = createStandings(stores.logins, nowMs, elapsedMs, doubt);
  const bearers = createBearers({ issuer, config, nowMs, standings, support: stores.support });
  const authorities = createAuthorities({
    publicUrl: config.publicUrl,
    further: config.publicAuthorities ?? [],
    developerMode: config.developerMode,
  });
  const signatures = createEdgeSignatures({
    edge: stores.edge,
    accounts,
    nowMs,
    authorities,
  });
  return {
    apiKeys,
    signatures,
    issuer,
    standings,
    authorities,
    handshakes: createHandshakeLimit({ rateLimiter, nowMs }),
    passkeys: createPasskeys({ publicUrl: config.publicUrl, store: stores.passkeys, nowMs }),
    secondFactor: createSecondFactor({ identity: stores.identity, factors: stores.factors, secrets, nowMs }),
    credentials: createCredentials({ apiKeys, bearers, signatures }),
    onDoubt: (listener) => void listeners.push(listener),
  };
}
