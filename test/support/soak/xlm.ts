/** Stellar in the soak: two RPC servers and a Horizon over one ledger; what is closed is final. */
import { networkOf } from '../../../chains/registry.ts';
import { StellarLedger } from '../../../developer/stand-ins/xlm/ledger.ts';
import { creation, envelopeOf, payment, person, settle } from '../../../developer/stand-ins/xlm/people.ts';
import { StellarServer, type Lie } from '../../../developer/stand-ins/xlm/stand-in.ts';
import { between, CALLS_LEFT_MAX, envOf, LAG_BLOCKS_MAX, oneOf, type SoakChain } from './soak-chain.ts';

const STROOPS_PER_XLM = 10_000_000n;
/** One transaction of a source waits at a time: as many payers as payments between two ledgers. */
const PAYERS = 8;
type Told = Record<string, unknown>;

/**
 * Ledgers of another height, of another name, none; transactions lost; not found. `what` is a method, or a path of
 * Horizon.
 */
const LIES: readonly Lie[] = [
  (what, honest) => (what === 'getLedgers' || /^\/ledgers\/\d+$/.test(what) ? renamed(honest) : honest),
  (what, honest) => (what === 'getLedgers' ? { ...(honest as Told), ledgers: [] } : honest),
  (what, honest) =>
    what.endsWith('/transactions') ? { _embedded: { records: [] } } : what === 'getLedgers' ? {} : honest,
  (what, honest) => (what === 'getTransaction' ? { ...(honest as Told), status: 'NOT_FOUND' } : honest),
  (what, honest) => (what === 'getLatestLedger' || what === 'getHealth' || what === '/' ? raised(honest) : honest),
];

function renamed(answer: unknown): unknown {
  const { ledgers, ...rest } = answer as Told,
    hash = 'ab'.repeat(32);
  return Array.isArray(ledgers)
    ? { ...rest, ledgers: ledgers.map((one: Told) => ({ ...one, hash })) }
    : { ...rest, hash };
}

function raised(answer: unknown): unknown {
  return Object.fromEntries(
    Object.entries(answer as Told).map(([name, value]) => [
      name,
      /^(sequence|latestLedger|history_latest_ledger|core_latest_ledger)$/.test(name) ? Number(value) + 40 : value,
    ]),
  );
}

const nowSeconds = (): number => Math.floor((performance.timeOrigin + performance.now()) / 1_000);

export async function openXlm(): Promise<SoakChain> {
  const ledger = new StellarLedger({ startTime: nowSeconds() - 10 });
  const payers = Array.from({ length: PAYERS }, (_, index) => person(60 + index)),
    opened = new Set<string>();
  settle(
    ledger,
    ledger.root,
    payers.map((payer) => creation(payer.publicKey(), 10_000n * STROOPS_PER_XLM)),
  );
  const servers = await Promise.all(
    (['rpc', 'rpc', 'horizon'] as const).map((kind, i) => new StellarServer(ledger, kind, `${kind}-${i}`).listen()),
  );
  return {
    chain: 'xlm',
    unit: 2n * STROOPS_PER_XLM,
    threshold: networkOf('xlm').threshold,
    reorgMax: 0,
    peers: servers.length,
    cloudEnv: envOf(
      'xlm',
      servers.map(({ url }) => url),
    ),
    async pay(address, amount) {
      const payer = payers.find((one) => !ledger.waiting.some(({ source }) => source === one.publicKey()));
      if (payer === undefined) throw new Error('every payer waits for a ledger');
      const operation = opened.has(address) ? payment(address, amount) : creation(address, amount);
      opened.add(address);
      const { status, hash } = ledger.submit(envelopeOf(ledger, payer, [operation]));
      if (status !== 'PENDING') throw new Error(`${hash}: ${status}`);
      return hash;
    },
    async mine(blocks) {
      for (let made = 0; made < blocks; made += 1) ledger.close(Math.max(1, nowSeconds() - ledger.newest.closeTime));
    },
    async reorg() {
      throw new Error('a closed ledger is final');
    },
    async makeIll(peer, ill, random) {
      const server = servers[peer]!;
      if (ill === 'dead') server.dead = true;
      else if (ill === 'limits') server.callsLeft = between(random, 0, CALLS_LEFT_MAX);
      else if (ill === 'lags') server.lag = between(random, 1, LAG_BLOCKS_MAX);
      else server.lie = oneOf(random, LIES);
    },
    heal: async () => {
      for (const server of servers) Object.assign(server, { dead: false, callsLeft: null, lag: 0, lie: null });
    },
    stands: async (hash) => ledger.find(hash)?.executed.success === true,
    headHeight: async () => ledger.newest.height,
    close: async () => {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}
