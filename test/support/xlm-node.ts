/** Stand-in servers of Stellar for tests, clients over them, and the people who act on their ledger. */
import type { Keypair } from '@stellar/stellar-sdk/base';
import type { Catalogue, Endpoint, Intent, Token } from '../../chains/chain.ts';
import { createClient, type XlmClient } from '../../chains/xlm/client.ts';
import { depositPath, gasTankPath } from '../../chains/xlm/derive.ts';
import { stellar } from '../../chains/xlm/network.ts';
import { createFailoverTransport, type FailoverTransport } from '../../chains/transport/failover.ts';
import { derivePrivateKey, pooledAddressAt, seedOf } from '../../edge/keystore/keys.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { StellarLedger, type ClosedLedger, type LedgerOptions } from '../../developer/stand-ins/xlm/ledger.ts';
import { creation, opening, payment, person, settle } from '../../developer/stand-ins/xlm/people.ts';
import { StellarServer } from '../../developer/stand-ins/xlm/stand-in.ts';
import { inProcess } from './in-process.ts';

const seed = seedOf(`${'abandon '.repeat(11)}about`, '');

/** Our address at a path, with its key. */
export function oursAt(path: string) {
  return {
    path,
    address: pooledAddressAt(seed, 'xlm', path),
    key: { privateKey: derivePrivateKey(seed, 'ed25519', path) },
  };
}
export const ours = (index: number) => oursAt(depositPath(index));
export const tank = oursAt(gasTankPath);

const PATHS = [...Array.from({ length: 10 }, (_, index) => depositPath(index)), gasTankPath];
const BY_PATH = new Map(PATHS.map((path) => [path, pooledAddressAt(seed, 'xlm', path)]));

/** What an edge derives at a path, or null. */
export const addressAt = (path: string): string | null => BY_PATH.get(path) ?? null;

export const XLM = 10_000_000n;

export interface Reader {
  readonly client: XlmClient;
  readonly transport: FailoverTransport;
}

/** A client whose endpoints never wait: a minute passes at every look at the clock. */
export function readerOf(endpoints: readonly Endpoint[], catalogue: Catalogue = new Map()): Reader {
  let nowMs = 0;
  const transport = createFailoverTransport({
    chain: 'xlm',
    endpoints,
    elapsedMs: () => (nowMs += 60_000),
    random: () => 0.5,
  });
  return { client: createClient(stellar, transport, catalogue), transport };
}

export const KINDS = ['rpc', 'horizon'] as const;
export type Kind = (typeof KINDS)[number];

export interface World extends Reader {
  readonly ledger: StellarLedger;
  readonly servers: readonly StellarServer[];
  readonly payer: Keypair;
  readonly issuer: Keypair;
  readonly token: Token;
  readonly catalogue: Catalogue;
  /** Pays from outside and closes a ledger; creates the account that is not there. */
  pay(to: string, amount: bigint, asset?: string | null): { hash: string; closed: ClosedLedger };
}

/** A ledger with a payer, an issuer of a listed token, and a client over servers of these kinds. */
/** A server in this process, as the transport asks it. */
export const endpointOf = ({ endpoint }: Pick<StellarServer, 'endpoint'>): Endpoint => inProcess('xlm', endpoint);

export function openWorld(kinds: readonly Kind[] = ['rpc'], options: LedgerOptions = {}): World {
  const ledger = new StellarLedger(options),
    payer = person(11),
    issuer = person(12);
  const servers = kinds.map((kind, i) => new StellarServer(ledger, kind, `${kind}-${i + 1}`));
  const token: Token = { chain: 'xlm', contract: `USDC:${issuer.publicKey()}`, symbol: 'USDC', decimals: 7 };
  settle(ledger, ledger.root, [
    creation(payer.publicKey(), 1_000_000n * XLM),
    creation(issuer.publicKey(), 1_000n * XLM),
  ]);
  settle(ledger, payer, [opening(token.contract)]);
  settle(ledger, issuer, [payment(payer.publicKey(), 1_000_000n * XLM, token.contract)]);
  const catalogue: Catalogue = new Map([[token.contract, token]]);
  return {
    ledger,
    servers,
    payer,
    issuer,
    token,
    catalogue,
    ...readerOf(servers.map(endpointOf), catalogue),
    pay(to, amount, asset = null) {
      const exists = asset !== null || ledger.state.account(to) !== null;
      return settle(ledger, payer, [exists ? payment(to, amount, asset) : creation(to, amount)]);
    },
  };
}

/** The value, where a refusal is a failure of the test. Throws: Error. */
export function must<T extends object>(value: T | Refusal): T {
  if (isRefusal(value)) throw new Error(`${value.code} ${JSON.stringify(value.details)}`);
  return value;
}

/** A payment of one of our addresses. */
export function intentOf(from: { address: string; path: string }, more: Partial<Intent> = {}): Intent {
  return {
    chain: 'xlm',
    from: from.address,
    fromPath: from.path,
    to: person(21).publicKey(),
    amount: XLM,
    token: null,
    tag: null,
    ...more,
  };
}
