/** XRP in the soak: three servers of one ledger; what is validated is final. */
import { networkOf } from '../../../chains/registry.ts';
import type { Faults } from '../../../developer/stand-ins/xrp/faults.ts';
import { LedgerNetwork } from '../../../developer/stand-ins/xrp/ledger-network.ts';
import { fund, must } from '../../../developer/stand-ins/xrp/people.ts';
import { startXrpServer } from '../../../developer/stand-ins/xrp/server.ts';
import { walletOf } from '../../../developer/stand-ins/xrp/signers.ts';
import { between, envOf, LAG_BLOCKS_MAX, oneOf, type SoakChain } from './soak-chain.ts';

const SERVERS = 3;
const PAYER_DROPS = 100_000_000_000n;
type Rewrite = NonNullable<Faults['rewrite']>;
type Told = Record<string, unknown>;

const inLedger =
  (change: (ledger: Told) => Told): Rewrite =>
  (method, _params, result) => {
    const ledger = result['ledger'] as Told | undefined;
    return method === 'ledger' && ledger !== undefined ? { ...result, ledger: change(ledger) } : undefined;
  };
/** The payments one drop richer: what was delivered, and the balance that it made. */
function richer(transaction: Told): Told {
  const meta = (transaction['metaData'] ?? transaction['meta']) as Told | undefined,
    named = transaction['metaData'] === undefined ? 'meta' : 'metaData';
  const fields = (transaction['tx_json'] ?? transaction) as Told;
  if (typeof meta?.['delivered_amount'] !== 'string') return transaction;
  const more = (drops: unknown): string => String(BigInt(String(drops)) + 1n);
  const nodes = (meta['AffectedNodes'] as Record<string, Told>[]).map((node) =>
    Object.fromEntries(
      Object.entries(node).map(([kind, entry]) => {
        const after = kind === 'CreatedNode' ? 'NewFields' : 'FinalFields',
          held = entry[after] as Told | undefined;
        const isPayee = held?.['Account'] === fields['Destination'] && entry['LedgerEntryType'] === 'AccountRoot';
        return [kind, isPayee ? { ...entry, [after]: { ...held, Balance: more(held!['Balance']) } } : entry];
      }),
    ),
  );
  return {
    ...transaction,
    [named]: { ...meta, delivered_amount: more(meta['delivered_amount']), AffectedNodes: nodes },
  };
}

/**
 * Transactions left out, a ledger that nobody validated, another parent, more coins, no such transaction; other amounts
 * under the true hash.
 */
const LIES: readonly Rewrite[] = [
  inLedger((ledger) => ({ ...ledger, transactions: ((ledger['transactions'] ?? []) as unknown[]).slice(1) })),
  (method, _params, result) => (method === 'ledger' ? { ...result, validated: false } : undefined),
  inLedger((ledger) => ({ ...ledger, parent_hash: 'AB'.repeat(32) })),
  inLedger((ledger) => ({ ...ledger, total_coins: '99999999999999999' })),
  (method, _params, result) => (method === 'tx' ? { ...result, validated: false } : undefined),
  inLedger((ledger) => ({ ...ledger, transactions: ((ledger['transactions'] ?? []) as Told[]).map(richer) })),
];

export async function openXrp(): Promise<SoakChain> {
  const network = new LedgerNetwork({ nowMs: () => performance.timeOrigin + performance.now() });
  const servers = await Promise.all(Array.from({ length: SERVERS }, () => startXrpServer(network)));
  const payer = walletOf('soak payer'),
    dead = new Set<number>();
  fund(network, payer.classicAddress, PAYER_DROPS);
  network.close();
  return {
    chain: 'xrp',
    unit: 1_000_000n,
    threshold: networkOf('xrp').threshold,
    reorgMax: 0,
    peers: SERVERS,
    cloudEnv: envOf(
      'xrp',
      servers.map(({ url }) => url),
    ),
    pay: async (address, amount) =>
      must(network, payer, { TransactionType: 'Payment', Destination: address, Amount: amount.toString() }),
    async mine(blocks) {
      for (let made = 0; made < blocks; made += 1) network.close();
    },
    async reorg() {
      throw new Error('a validated ledger is final');
    },
    async makeIll(peer, ill, random) {
      const { faults, die } = servers[peer]!;
      if (ill === 'dead') {
        dead.add(peer);
        await die();
      } else if (ill === 'limits') faults.busy = oneOf(random, ['slowDown', 'tooBusy', { http: 503 }] as const);
      else if (ill === 'lags') faults.lag = between(random, 1, LAG_BLOCKS_MAX);
      // One that showed another ledger is not asked again before its identity is checked: two others must be left.
      else if (peer === SERVERS - 1 && random() < 0.5) faults.forkFrom = network.validatedHeight + 1;
      else if (random() < 0.3) faults.missing = [{ first: network.validatedHeight, last: network.validatedHeight + 3 }];
      else faults.rewrite = oneOf(random, LIES);
    },
    async heal() {
      for (const { faults } of servers)
        Object.assign(faults, { busy: null, lag: 0, forkFrom: null, missing: [], rewrite: null });
      for (const peer of dead) await servers[peer]!.revive();
      dead.clear();
    },
    stands: async (txid) => network.find(txid)?.meta['TransactionResult'] === 'tesSUCCESS',
    headHeight: async () => network.validatedHeight,
    close: async () => {
      await Promise.all(servers.map((server, peer) => (dead.has(peer) ? undefined : server.close())));
    },
  };
}
