/**
 * A real Core-family node (Debian's litecoind, in regtest) as a Bitcoin ledger of the soak, behind doors. A door shows
 * the node as one of the main network: its first block and the text of its addresses; scripts, hashes, signatures and
 * numbers pass as the node wrote them.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { address as addresses, networks } from 'bitcoinjs-lib';
import { bitcoin, litecoinRegtest } from '../../../chains/btc/network.ts';
import { startLitecoind, type Litecoind } from '../../../developer/litecoind.ts';
import {
  between,
  CALLS_LEFT_MAX,
  envOf,
  LAG_BLOCKS_MAX,
  oneOf,
  type Random,
  type SoakChain,
  type Ill,
} from './soak-chain.ts';

const DOORS = 2;
const THRESHOLD = 3;
const FUNDED_BLOCKS = 110;
const FALSE_HASH = 'ab'.repeat(32);
const REGTEST = {
  ...networks.regtest,
  bech32: litecoinRegtest.prefixes.bech32,
  pubKeyHash: litecoinRegtest.prefixes.p2pkh,
  scriptHash: litecoinRegtest.prefixes.p2sh,
};

export const coinText = (amount: bigint): string =>
  `${amount / 100_000_000n}.${(amount % 100_000_000n).toString().padStart(8, '0')}`;
/** The same script, in the text of the node's own network. */
const ofNode = (address: string): string =>
  addresses.fromOutputScript(addresses.toOutputScript(address, networks.bitcoin), REGTEST);
const ofMain = (address: string): string => {
  try {
    return addresses.fromOutputScript(addresses.toOutputScript(address, REGTEST), networks.bitcoin);
  } catch {
    return address; // an output that the main network has no text for
  }
};

interface Asked {
  readonly method: string;
  readonly params: unknown[];
}
/** Changes the text of an answer; undefined leaves it. */
type Lie = (asked: Asked, text: string) => string | undefined;

const LIES: readonly Lie[] = [
  ({ method, params }, text) =>
    method === 'getblock' && params[1] === 2
      ? text.replace(/"value":(?:[0-9]+)\.([0-9]{7})[0-9]/g, '"value":7.$11')
      : undefined,
  ({ method }, text) =>
    method === 'getblockhash' ? text.replace(/"result":"[0-9a-f]{64}"/, `"result":"${FALSE_HASH}"`) : undefined,
  ({ method }, text) =>
    method === 'getblock'
      ? text.replace(/"previousblockhash":"[0-9a-f]{64}"/, `"previousblockhash":"${FALSE_HASH}"`)
      : undefined,
  ({ method }, text) =>
    method === 'getblock'
      ? text.replace(
          /"result":\{.*\},"error":null/s,
          '"result":null,"error":{"code":-1,"message":"Block not available (pruned data)"}',
        )
      : undefined,
  ({ method }, text) =>
    method === 'getblock' ? text.replace(/"confirmations":[0-9]+/, '"confirmations":-1') : undefined,
];

class LitecoinDoor {
  readonly #node: Litecoind;
  readonly #server: Server;
  #dead = false;
  #callsLeft: number | null = null;
  #lag = 0;
  #lie: Lie | null = null;

  constructor(node: Litecoind) {
    this.#node = node;
    this.#server = createServer((request, response) => {
      if (this.#dead) return void request.socket.destroy();
      if (this.#callsLeft !== null && (this.#callsLeft -= 1) < 0)
        return void response.writeHead(429, { 'retry-after': '1' }).end();
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.#answer(Buffer.concat(chunks).toString('utf8')).then(
          ({ status, text }) => response.writeHead(status, { 'content-type': 'application/json' }).end(text),
          () => response.destroy(),
        );
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  makeIll(ill: Ill, random: Random): void {
    if (ill === 'dead') this.#dead = true;
    else if (ill === 'limits') this.#callsLeft = between(random, 0, CALLS_LEFT_MAX);
    else if (ill === 'lags') this.#lag = between(random, 1, LAG_BLOCKS_MAX);
    else this.#lie = oneOf(random, LIES);
  }

  heal(): void {
    this.#dead = false;
    this.#callsLeft = null;
    this.#lag = 0;
    this.#lie = null;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(body: string): Promise<{ status: number; text: string }> {
    const parsed = JSON.parse(body) as (Asked & { id: unknown }) | (Asked & { id: unknown })[];
    const one = async (call: Asked & { id: unknown }): Promise<{ status: number; text: string }> => {
      const lagging = this.#lag === 0 ? null : await this.#behind(call);
      if (lagging !== null) return { status: 200, text: lagging };
      const { hostname, port, username, password } = new URL(this.#node.url);
      const reply = await fetch(`http://${hostname}:${port}/`, {
        method: 'POST',
        body: JSON.stringify(call).replaceAll(bitcoin.identity, litecoinRegtest.identity),
        headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
      });
      const text = shownAsMain(await reply.text());
      return { status: reply.status, text: this.#lie?.(call, text) ?? text };
    };
    if (!Array.isArray(parsed)) return one(parsed);
    const answers = await Promise.all(parsed.map(one));
    return { status: 200, text: `[${answers.map(({ text }) => text.trim()).join(',')}]` };
  }

  /** What a node that stands still some blocks below would say; null where it says the same. */
  async #behind({ id, method, params }: Asked & { id: unknown }): Promise<string | null> {
    const height = Math.max(1, (await this.#node.rpc<number>('getblockcount')) - this.#lag);
    const failed = (code: number, message: string) => JSON.stringify({ result: null, error: { code, message }, id });
    if (method === 'getblockhash' && Number(params[0]) > height) return failed(-8, 'Block height out of range');
    if (method === 'getbestblockhash')
      return JSON.stringify({ result: await this.#node.rpc('getblockhash', [height]), error: null, id });
    if (method !== 'getblockchaininfo') return null;
    const info = await this.#node.rpc<Record<string, unknown>>('getblockchaininfo');
    const hash = await this.#node.rpc<string>('getblockhash', [height]);
    return shownAsMain(
      JSON.stringify({ result: { ...info, blocks: height, headers: height, bestblockhash: hash }, error: null, id }),
    );
  }
}

function shownAsMain(text: string): string {
  return text
    .replaceAll(litecoinRegtest.identity, bitcoin.identity)
    .replace(/"chain":"regtest"/g, '"chain":"main"')
    .replace(
      /"(rltc1[0-9a-z]{20,80}|[mnQ2][1-9A-HJ-NP-Za-km-z]{25,39})"/g,
      (_, address: string) => `"${ofMain(address)}"`,
    );
}

/** Starts the node with a payer that has money. */
export async function openLitecoin(): Promise<SoakChain> {
  const node = await startLitecoind({ args: ['-vbparams=mweb:9999999999:9999999999'] });
  await node.rpc('createwallet', ['payer']);
  const mine = async (blocks: number): Promise<void> => {
    // A new address for each run of blocks: the same block on two branches would be one that is known to be invalid.
    await node.rpc('generatetoaddress', [blocks, await node.rpc<string>('getnewaddress', ['', 'bech32'])]);
  };
  await mine(FUNDED_BLOCKS);
  const doors = Array.from({ length: DOORS }, () => new LitecoinDoor(node));
  const urls = await Promise.all(doors.map((door) => door.listen()));
  const sent = new Set<string>();
  const confirmations = async (txid: string): Promise<number> => {
    const { confirmations: depth } = await node.rpc<{ confirmations: number }>('gettransaction', [txid]);
    return depth;
  };
  /** Spends a payment's first coin elsewhere, so that it never comes back. */
  const spendAway = async (txid: string): Promise<void> => {
    const { hex } = await node.rpc<{ hex: string }>('gettransaction', [txid]);
    const { vin, vout } = await node.rpc<{ vin: { txid: string; vout: number }[]; vout: { value: number }[] }>(
      'decoderawtransaction',
      [hex],
    );
    const total = vout.reduce((sum, { value }) => sum + BigInt(Math.round(value * 1e8)), 0n);
    const raw = await node.rpc<string>('createrawtransaction', [
      vin.map((input) => ({ txid: input.txid, vout: input.vout, sequence: 0xffff_fffd })),
      { [await node.rpc<string>('getnewaddress', ['', 'bech32'])]: coinText(total - 400_000n) },
    ]);
    const signed = await node.rpc<{ hex: string }>('signrawtransactionwithwallet', [raw]);
    await node.rpc('sendrawtransaction', [signed.hex, 0]);
  };
  return {
    chain: 'btc',
    unit: 100_000n,
    threshold: THRESHOLD,
    reorgMax: THRESHOLD + 2,
    peers: DOORS,
    mine,
    cloudEnv: envOf('btc', urls, { CONFIRMATIONS: THRESHOLD, START_HEIGHT: FUNDED_BLOCKS }),
    async pay(address, amount) {
      const txid = await node.rpc<string>('sendtoaddress', [ofNode(address), coinText(amount), '', '', false, true]);
      sent.add(txid);
      return txid;
    },
    async reorg(depth, comesBack) {
      const tip = await node.rpc<number>('getblockcount');
      await node.rpc('invalidateblock', [await node.rpc<string>('getblockhash', [tip - depth + 1])]);
      for (const txid of sent) {
        if ((await confirmations(txid)) !== 0 || comesBack(txid)) continue;
        await spendAway(txid).catch(() => undefined); // its coin was spent by another one that is to come back
      }
      await mine(depth + 1);
    },
    makeIll: async (peer, ill, random) => doors[peer]!.makeIll(ill, random),
    heal: async () => {
      for (const door of doors) door.heal();
    },
    stands: async (txid) => (await confirmations(txid)) > 0,
    headHeight: () => node.rpc<number>('getblockcount'),
    async balanceOf(address) {
      const script = Buffer.from(addresses.toOutputScript(address, networks.bitcoin)).toString('hex');
      const { total_amount: total } = await node.rpc<{ total_amount: number }>('scantxoutset', [
        'start',
        [`raw(${script})`],
      ]);
      return BigInt(Math.round(total * 1e8));
    },
    async close() {
      await Promise.all(doors.map((door) => door.close()));
      await node.stop();
    },
  };
}
