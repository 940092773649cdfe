/**
 * A watcher of one chain of the soak in this process, with a memory store and a hand-turned clock: many seeds in little
 * time.
 */
import { createFailoverTransport } from '../../../chains/transport/failover.ts';
import { createHttpEndpoint } from '../../../chains/transport/http-endpoint.ts';
import { oneEndpoint } from '../../../chain-watchers/follow/one-endpoint.ts';
import { networkWith } from '../../../chain-watchers/live.ts';
import { catalogueOf } from '../../../chains/catalogue.ts';
import { loadModule, networkOf } from '../../../chains/registry.ts';
import { addressKeyOf } from '../../../protocol/node/ids.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import { seeded } from '../seeded.ts';
import { ACCOUNT, watching } from '../watching.ts';
import { between, ILLS, oneOf, type Random, type SoakChain } from './soak-chain.ts';

/** No chain's list of lies is longer. */
const LIES_MAX = 12;
const TICKS_PER_LIE = 2;
const TICKS_MAX = 6;
const TICK_MS = 300;
/** Ticks of a healthy chain within which everything that stands is matured. */
const SETTLE_TICKS = 240;
const SETTLE_MS = 1_000;

interface Play {
  readonly chain: SoakChain;
  /** Pays the address from outside; the payment waits for a block. */
  pay(): Promise<void>;
  /** Looks of the watcher, one after another. */
  ticks(count: number): Promise<void>;
}

/**
 * Every lie that a chain's peers know, told by one of them while three blocks with payments are made; what is wrong in
 * the end.
 */
export function playEveryLie(open: () => Promise<SoakChain>, address: string): Promise<string[]> {
  return playOn(open, address, seeded(1), async ({ chain, pay, ticks }) => {
    for (let lie = 0; lie < LIES_MAX; lie += 1) {
      await chain.heal();
      await chain.makeIll(lie % chain.peers, 'lies', () => (lie + 0.5) / LIES_MAX);
      // The peers are asked in turn: one of these blocks is asked from the liar.
      for (let block = 0; block < chain.peers; block += 1) {
        await pay();
        await chain.mine(1);
        await ticks(TICKS_PER_LIE);
      }
    }
  });
}

/** Plays `steps` on a chain by a seed; what is wrong in the end, as sentences. */
export function playIll(
  open: () => Promise<SoakChain>,
  address: string,
  seed: number,
  steps: number,
): Promise<string[]> {
  const random = seeded(seed);
  return playOn(open, address, random, async ({ chain, pay, ticks }) => {
    for (let step = 0; step < steps; step += 1) {
      await chain.heal();
      const choice = random();
      if (choice < 0.1)
        for (let peer = 0; peer < chain.peers; peer += 1)
          await chain.makeIll(peer, oneOf(random, ['dead', 'limits'] as const), random);
      else if (choice < 0.9) await chain.makeIll(between(random, 0, chain.peers - 1), oneOf(random, ILLS), random);
      await pay();
      await chain.mine(1);
      await ticks(between(random, 0, TICKS_MAX));
      if (chain.reorgMax > 0 && random() < 0.35) {
        await chain.reorg(between(random, 1, chain.reorgMax), () => random() >= 0.1);
        await chain.mine(between(random, 1, 3));
        await ticks(between(random, 0, TICKS_MAX));
      } else await chain.mine(between(random, 0, 2));
    }
  });
}

async function playOn(
  open: () => Promise<SoakChain>,
  address: string,
  random: Random,
  play: (parts: Play) => Promise<void>,
): Promise<string[]> {
  const chain = await open(),
    slug = chain.chain;
  const network = networkWith(networkOf(slug), chain.threshold),
    module = await loadModule(slug),
    catalogue = catalogueOf(slug);
  const urls = chain.cloudEnv[`${slug.toUpperCase()}_RPC_URLS`]!.split(',');
  const endpoints = urls.map((url, index) => createHttpEndpoint({ chain: slug, name: `${slug}-${index + 1}`, url }));
  let nowMs = Date.now();
  const transport = createFailoverTransport({ chain: slug, endpoints, elapsedMs: () => nowMs, random });
  const client = module.createClient(network, transport, catalogue);
  const witnesses = endpoints.map((endpoint) =>
    module.createClient(network, oneEndpoint(slug, transport, endpoint), catalogue),
  );
  const self = watching({ client, witnesses, network, module, ledger: slug });
  const parsed = module.parseAddress(network, address);
  if (isRefusal(parsed)) throw new Error(`${address} is no address of ${slug}`);
  self.store.addAddress(
    {
      addressKey: addressKeyOf('live', network.family, parsed.bytes),
      addressId: 'adr_shop',
      accountId: ACCOUNT,
      address,
      purpose: 'deposit',
    },
    'live',
    nowMs,
  );
  const sent = new Map<string, bigint>();
  let last: unknown = null;
  const tick = async (passedMs: number) => {
    nowMs += passedMs;
    self.nowMs = nowMs;
    last = await self.watcher.tick();
  };
  try {
    await client.checkIdentity();
    await tick(0);
    await play({
      chain,
      pay: async () => {
        const amount = chain.unit + BigInt(sent.size);
        sent.set(await chain.pay(address, amount), amount);
      },
      ticks: async (count) => {
        for (let left = count; left > 0; left -= 1) await tick(TICK_MS);
      },
    });
    await chain.heal();
    await chain.mine(chain.threshold + 8);
    let wrong: string[] = [];
    for (let left = SETTLE_TICKS; left > 0; left -= 1) {
      if (left % 4 === 0) await chain.mine(1);
      await tick(SETTLE_MS);
      wrong = await problemsOf(chain, sent, self.store.facts(slug));
      if (wrong.length === 0) return [];
    }
    const cursor = await self.store.cursor(slug);
    return [
      ...wrong,
      `cursor ${cursor?.height} of ${await chain.headHeight()}; ${JSON.stringify(last)}; ${JSON.stringify(transport.health())}`,
    ];
  } finally {
    await Promise.all(endpoints.map((endpoint) => endpoint.close()));
    await chain.close();
  }
}

interface Fact {
  readonly status: string;
  readonly transfer: { readonly txid: string; readonly amount: string };
}

async function problemsOf(
  chain: SoakChain,
  sent: ReadonlyMap<string, bigint>,
  facts: readonly Fact[],
): Promise<string[]> {
  const problems: string[] = [];
  for (const [txid, amount] of sent) {
    const own = facts.filter(({ transfer }) => transfer.txid === txid),
      stands = await chain.stands(txid);
    if (own.length > 1) problems.push(`${txid} is ${own.length} facts`);
    const { status = 'unseen', transfer } = own[0] ?? {};
    if (stands && transfer !== undefined && transfer.amount !== amount.toString())
      problems.push(`${txid} is ${transfer.amount} of ${amount}`);
    if (stands ? status !== 'matured' : status === 'matured' || status === 'seen')
      problems.push(`${txid} ${stands ? 'stands' : 'is gone'} and is ${status}`);
  }
  return problems;
}
