/**
 * The Stellar stage: an RPC and a Horizon server over a stand-in ledger that verifies real signatures and closes by
 * hand and by time.
 */
import { catalogueOf } from '../chains/catalogue.ts';
import { networkOf } from '../chains/registry.ts';
import type { Stage } from './demo-stage.ts';
import { issuerOf, LINE_FLAGS } from './stand-ins/xlm/entries.ts';
import { StellarLedger } from './stand-ins/xlm/ledger.ts';
import { creation, opening, payment, person, settle } from './stand-ins/xlm/people.ts';
import { StellarServer } from './stand-ins/xlm/stand-in.ts';

const POLL_MS = 50;
/** As often as the real one; a ledger that closes no more is taken for a dead one. */
const CLOSE_EVERY_MS = 5_000;
const STROOPS_PER_XLM = 10_000_000n;
/** Enough for the reserves of both ends of a payment, and of a trust line. */
const UNIT = 20n * STROOPS_PER_XLM;
const PAYER_STROOPS = 100_000n * STROOPS_PER_XLM;
const PAYER_TOKENS = 1_000n * STROOPS_PER_XLM;
const INT64_MAX = 2n ** 63n - 1n;

const nowSeconds = (): number => Math.floor((performance.timeOrigin + performance.now()) / 1_000);

/** Starts the servers, a payer with money, and a shop that takes the token. */
export async function openXlmStage(): Promise<Stage> {
  const { nativeDecimals, threshold } = networkOf('xlm');
  const [token] = catalogueOf('xlm').values();
  const ledger = new StellarLedger({ startTime: nowSeconds() - 10 });
  // Time on the ledger is the real one, and never stops.
  const close = () => {
    ledger.close(Math.max(1, nowSeconds() - ledger.newest.closeTime));
  };
  const payer = person(101),
    outsider = person(102),
    shop = person(103),
    asset = token!.contract,
    issuer = issuerOf(asset);
  settle(ledger, ledger.root, [
    creation(payer.publicKey(), PAYER_STROOPS),
    creation(shop.publicKey(), UNIT),
    creation(issuer, UNIT),
  ]);
  settle(ledger, shop, [opening(asset)]);
  // Nobody here has the issuer's key: what the payer holds of the token was there before.
  ledger.state.put({
    kind: 'line',
    account: payer.publicKey(),
    asset,
    balance: PAYER_TOKENS,
    limit: INT64_MAX,
    flags: LINE_FLAGS.authorized,
  });
  close();
  const servers = await Promise.all(
    (['rpc', 'horizon'] as const).map((kind) => new StellarServer(ledger, kind).listen()),
  );
  const clock = setInterval(close, CLOSE_EVERY_MS);
  const paid = (hash: string) => ({ txid: hash, blockAtMs: performance.timeOrigin + performance.now() });
  const pay = async (address: string, amount: bigint, contract: string | null) => {
    const exists = ledger.state.account(address) !== null;
    return paid(settle(ledger, payer, [exists ? payment(address, amount, contract) : creation(address, amount)]).hash);
  };
  return {
    chain: 'xlm',
    decimals: nativeDecimals,
    threshold,
    reorgs: false,
    activates: true,
    unit: UNIT,
    outsider: outsider.publicKey(),
    cloudEnv: { XLM_RPC_URLS: servers.map(({ url }) => url).join(','), XLM_POLL_MS: String(POLL_MS) },
    edgeEnv: {},
    pay: (address, amount) => pay(address, amount, null),
    token: {
      contract: asset,
      symbol: token!.symbol,
      decimals: token!.decimals,
      outsider: shop.publicKey(),
      pay: (address, amount) => pay(address, amount, asset),
      balanceOf: async (address) => ledger.state.line(address, asset)?.balance ?? 0n,
    },
    async mine(blocks) {
      for (let i = 0; i < blocks; i += 1) close();
    },
    async reorg() {
      throw new Error('a closed ledger is final');
    },
    balanceOf: async (address) => ledger.state.account(address)?.balance ?? 0n,
    async close() {
      clearInterval(clock);
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}
