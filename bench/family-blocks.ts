/**
 * Blocks of a realistic size for the families that are not EVM: a recorded block's transactions repeated, each copy
 * with its own txid, as the answers that a node would give. How many a block holds at the peak: chains.md part 10.
 */
import { readFileSync } from 'node:fs';
import type { Endpoint } from '../chains/chain.ts';
import { headerHash, merkleRoot } from '../chains/btc/block.ts';
import type { Chain } from '../protocol/slugs.ts';
import { StellarLedger } from '../developer/stand-ins/xlm/ledger.ts';
import { creation, envelopeOf, payment, person, settle } from '../developer/stand-ins/xlm/people.ts';
import { StellarServer } from '../developer/stand-ins/xlm/stand-in.ts';

type Json = Record<string, unknown>;

export interface FamilyBlock {
  readonly chain: Chain;
  /** Transactions of the block, or operations (xlm). */
  readonly count: number;
  /** The answers it is read from, by the names that the family's module gives them. */
  readonly texts: readonly (readonly [name: string, text: string])[];
}

/** Numbers as they are written, so that what is written again is what a node wrote. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
const exact = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? rawJSON(context!.source!) : value,
  );

const answerOf = (file: string): unknown =>
  exact(readFileSync(new URL(`../test/vectors/nodes/${file}`, import.meta.url), 'utf8'));
const recorded = (file: string): Json => {
  const answer = answerOf(file) as Json;
  return 'result' in answer ? (answer['result'] as Json) : answer;
};
const numberIn = (raw: unknown): number => Number((raw as { rawJSON: string }).rawJSON);
/** The same hex with another end. */
const otherwise = (hex: string, n: number): string => hex.slice(0, -6) + n.toString(16).padStart(6, '0');
/** The same base58 with another end; `1` to `z` in the alphabet, five digits. */
const otherBase58 = (text: string, n: number): string =>
  text.slice(0, -5) + n.toString(9).padStart(5, '0').replaceAll('0', '9');
/** `make` for each number below `count`, over the entries of a list again and again. */
const repeated = <T>(list: readonly unknown[], count: number, make: (entry: Json, n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(list[n % list.length] as Json, n));

const OUTPUTS_FEW = 4;
const LARGE_EVERY = 100;

/** A full block as it was at the peak of 2023. */
function btc(count: number): FamilyBlock {
  const block = recorded('btc/getblock_v3_279671.json'),
    [coinbase, ...all] = block['tx'] as Json[];
  // Most recorded ones have one output, one has 150: mixed, a transaction has two and a half, as on the network.
  const large = all.find((one) => (one['vout'] as unknown[]).length > OUTPUTS_FEW)!;
  const small = all.filter((one) => one !== large);
  const tx = [
    coinbase!,
    ...repeated(small, count - 1, (one, n) => {
      const taken = n % LARGE_EVERY === 0 ? large : one;
      return { ...taken, txid: otherwise(String(taken['txid']), n) };
    }),
  ];
  const root = merkleRoot(tx.map((one) => String(one['txid'])));
  const hash = headerHash({
    version: numberIn(block['version']),
    previous: String(block['previousblockhash']),
    merkleRoot: root,
    time: numberIn(block['time']),
    bits: String(block['bits']),
    nonce: numberIn(block['nonce']),
  });
  const text = JSON.stringify({ ...block, hash, merkleroot: root, nTx: tx.length, tx });
  return { chain: 'btc', count, texts: [['block', text]] };
}

function tron(count: number): FamilyBlock {
  const block = recorded('tron/block_assembled.getblockbynum.json');
  const infos = answerOf('tron/block_assembled.gettransactioninfobyblocknum.json') as Json[];
  const transactions = repeated(block['transactions'] as Json[], count, (one, n) => ({
    ...one,
    txID: otherwise(String(one['txID']), n),
  }));
  const theirs = repeated(infos, count, (one, n) => ({ ...one, id: otherwise(String(one['id']), n) }));
  return {
    chain: 'tron',
    count,
    texts: [
      ['block', JSON.stringify({ ...block, transactions })],
      ['infos', JSON.stringify(theirs)],
    ],
  };
}

/** Three votes for each other transaction, as on the network. */
function sol(count: number): FamilyBlock {
  const block = recorded('sol/getblock_assembled.json');
  const votes = recorded('sol/getblock_json_votes.json')['transactions'] as Json[];
  const others = block['transactions'] as Json[];
  const transactions = repeated(votes, count, (vote, n) => {
    const one = n % 4 === 0 ? others[(n / 4) % others.length]! : vote,
      transaction = one['transaction'] as Json;
    const [signature, ...more] = transaction['signatures'] as string[];
    return { ...one, transaction: { ...transaction, signatures: [otherBase58(signature!, n), ...more] } };
  });
  return { chain: 'sol', count, texts: [['block', JSON.stringify({ ...block, transactions })]] };
}

function xrp(count: number): FamilyBlock {
  const answer = recorded('xrp/ledger_90150378.json'),
    ledger = answer['ledger'] as Json;
  const transactions = repeated(ledger['transactions'] as Json[], count, (one, n) => ({
    ...one,
    hash: otherwise(String(one['hash']), n).toUpperCase(),
  }));
  const text = JSON.stringify({ ...answer, ledger: { ...ledger, transactions } });
  return { chain: 'xrp', count, texts: [['ledger', text]] };
}

export const FAMILY_BLOCKS: readonly (() => FamilyBlock)[] = [
  () => btc(4_373),
  () => tron(480),
  () => sol(1_500),
  () => xrp(420),
];

export interface StellarBlock {
  readonly operations: number;
  readonly height: number;
  /** Answers every question about the ledger from memory, as an RPC server does. */
  readonly endpoint: Endpoint;
  /** `getLedgers` of the ledger. */
  readonly text: string;
}

const PAYMENTS_PER_TRANSACTION = 10;
/** An answer names its id at its beginning. */
const ID_CHARS = 60;

/** A ledger of as many payments as one may hold, closed by the stand-in: bytes, hashes and signatures are the SDK's. */
export async function stellarBlock(operations: number): Promise<StellarBlock> {
  const ledger = new StellarLedger(),
    count = operations / PAYMENTS_PER_TRANSACTION;
  const payers = Array.from({ length: count }, (_, n) => person(1 + (n % 200)));
  const own = new Map(payers.map((payer) => [payer.publicKey(), payer]));
  for (const payer of own.values()) settle(ledger, ledger.root, [creation(payer.publicKey(), 100_000_000_000n)]);
  const all = [...own.values()];
  for (const [n, payer] of all.entries()) {
    const to = (k: number) => all[(n + k + 1) % all.length]!.publicKey();
    const payments = Array.from({ length: PAYMENTS_PER_TRANSACTION }, (_, k) => payment(to(k), 1_000n + BigInt(k)));
    const { status } = ledger.submit(envelopeOf(ledger, payer, payments));
    if (status !== 'PENDING') throw new Error(status);
  }
  const { height } = ledger.close();
  const { endpoint: live } = new StellarServer(ledger, 'rpc');
  const kept = new Map<string, Awaited<ReturnType<Endpoint['request']>>>();
  const endpoint: Endpoint = {
    name: 'kept',
    async request(call) {
      const asked = /"id":\d+/.exec(call.body ?? '')?.[0] ?? '',
        key = (call.body ?? '').replace(asked, '');
      const known = kept.get(key);
      // F25
      if (known !== undefined)
        return {
          ...known,
          text: `${known.text.slice(0, ID_CHARS).replace(/"id":\d+/, asked)}${known.text.slice(ID_CHARS)}`,
        };
      const reply = await live.request(call);
      kept.set(key, reply);
      return reply;
    },
  };
  const { text } = await live.request({
    method: 'POST',
    path: '',
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'getLedgers',
      params: { startLedger: height, pagination: { limit: 1 } },
    }),
  });
  return { operations: all.length * PAYMENTS_PER_TRANSACTION, height, endpoint, text };
}
