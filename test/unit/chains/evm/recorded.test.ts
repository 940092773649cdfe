/** Recorded answers of real nodes against their expected results (test/vectors/SOURCE.md). */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { blockFromAnswers } from '../../../../chains/evm/block.ts';
import type { EvmRaw, RawReceipt } from '../../../../chains/evm/raw.ts';
import { evmNetworks } from '../../../../chains/evm/network.ts';
import { outcomesIn, transfersIn } from '../../../../chains/evm/transfers.ts';
import { ChainUnavailable, MalformedReply, type Block, type Catalogue, type Token } from '../../../../chains/chain.ts';

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../../vectors/${path}`, import.meta.url), 'utf8'));

interface Expected {
  case: string;
  chain: string;
  files: string[];
  credits: {
    txid: string;
    kind: string;
    amount: string;
    decimals: number;
    from: string;
    tokenContract: string | null;
    address: string;
    logIndex?: number;
    inSampleCatalogue?: boolean;
    symbol?: string;
  }[];
  mustNotCredit: { txid: string; kind: string; logIndex?: number; why: string }[];
}
const cases = (read('nodes/expected.json').cases as Expected[]).filter(({ files }) =>
  files[0]!.startsWith('nodes/evm/'),
);
const tokens = read('tokens/sample-catalogue.json').tokens as Token[];
const catalogueFor = (chain: string): Catalogue =>
  new Map(tokens.filter((one) => one.chain === chain).map((one) => [one.contract, one]));
const networkFor = (slug: string) => evmNetworks.find((network) => network.slug === slug)!;

function blockFor({ chain, files }: Expected): Block<EvmRaw> {
  return blockFromAnswers(networkFor(chain), {
    block: read(files[0]!),
    receipts: files[1] === undefined ? undefined : read(files[1]),
  });
}

/** G2: the place in the transaction's own receipt, from the block-wide index that the expectations use. */
function ordinalOf({ files }: Expected, txid: string, logIndex: number): number {
  const receipts = read(files[1]!).result as { transactionHash: string; logs: { logIndex: string }[] }[];
  return receipts
    .find(({ transactionHash }) => transactionHash === txid)!
    .logs.findIndex((log) => Number(log.logIndex) === logIndex);
}

test('V1 V2 V3 V14 V15 G22 G23 the recorded blocks of five networks pay exactly whom they should', (t) => {
  const withReceipts = cases.filter(({ files }) => files.length === 2);
  t.is(withReceipts.length, 24);
  let credits = 0;
  for (const expected of withReceipts) {
    const block = blockFor(expected);
    const { transfers } = transfersIn(networkFor(expected.chain), block, catalogueFor(expected.chain));
    const want = expected.credits
      .filter((one) => one.kind === 'native' || one.inSampleCatalogue === true)
      .map((one) => ({
        txid: one.txid,
        outputIndex: one.logIndex === undefined ? -1 : ordinalOf(expected, one.txid, one.logIndex),
        to: one.address,
        amount: BigInt(one.amount),
        decimals: one.decimals,
        tokenContract: one.tokenContract,
        from: [one.from],
      }));
    const got = transfers.map(({ txid, outputIndex, to, amount, decimals, tokenContract, from }) => ({
      txid,
      outputIndex,
      to,
      amount,
      decimals,
      tokenContract,
      from: [...from],
    }));
    const order = (list: typeof want) =>
      list.sort((a, b) => a.txid.localeCompare(b.txid) || a.outputIndex - b.outputIndex);
    t.deepEqual(order(got), order(want), expected.case);
    credits += want.length;
  }
  t.true(credits > 30);
});

test('V14 V15 G22 whatever must not be credited is not, and is named as ignored', (t) => {
  let checked = 0;
  for (const expected of cases.filter(({ files }) => files.length === 2)) {
    const block = blockFor(expected);
    const { transfers, ignored } = transfersIn(networkFor(expected.chain), block, catalogueFor(expected.chain));
    for (const { txid, kind, logIndex, why } of expected.mustNotCredit) {
      const ordinal = logIndex === undefined ? -1 : ordinalOf(expected, txid, logIndex);
      const credited = transfers.some((one) => one.txid === txid && (kind === 'any' || one.outputIndex === ordinal));
      t.false(credited, `${expected.case} ${why}`);
      t.true(
        ignored.some((one) => one.txid === txid),
        `${expected.case} ${why}`,
      );
      checked++;
    }
  }
  t.is(checked, 137);
});

test('G8 G9 V4 a block whose receipts are missing, short, foreign or without a status is unproven, never empty', (t) => {
  const avax = cases.find(({ case: name }) => name === 'avax/block_5760288')!;
  t.throws(() => blockFor(avax), { instanceOf: MalformedReply, message: /receipts/ });
  const plain = cases.find(({ case: name }) => name === 'eth/block_18000000')!;
  const block = blockFor(plain),
    network = networkFor('eth'),
    none: Catalogue = new Map();
  const damaged = (receipts: readonly RawReceipt[]): Block<EvmRaw> => ({ ...block, raw: { ...block.raw, receipts } });
  const { receipts } = block.raw;
  for (const [what, parts] of Object.entries({
    empty: [],
    short: receipts.slice(1),
    swapped: [receipts[1]!, receipts[0]!, ...receipts.slice(2)],
    foreign: [{ ...receipts[0]!, blockHash: `0x${'1'.repeat(64)}` }, ...receipts.slice(1)],
    preByzantium: receipts.map(({ status: _status, ...receipt }) => receipt),
    foreignLog: receipts.map((receipt) => ({
      ...receipt,
      logs: receipt.logs.map((log) => ({ ...log, blockHash: `0x${'2'.repeat(64)}` })),
    })),
    removedLog: receipts.map((receipt) => ({
      ...receipt,
      logs: receipt.logs.map((log) => ({ ...log, removed: true })),
    })),
  })) {
    t.throws(() => transfersIn(network, damaged(parts), none), { instanceOf: ChainUnavailable }, what);
    t.throws(() => outcomesIn(network, damaged(parts), new Set()), { instanceOf: ChainUnavailable }, what);
  }
  for (const answer of [
    null,
    {},
    [null],
    [{ ...receipts[0], logs: null }],
    { jsonrpc: '2.0', id: 1, error: { code: -32000 } },
  ]) {
    t.throws(() => blockFromAnswers(network, { block: block.raw.block, receipts: answer }), {
      instanceOf: MalformedReply,
    });
  }
});

test('V10 G24 withdrawals of validators and mints to oneself are shown as unattributed or ignored, never credited', (t) => {
  const eth = cases.find(({ case: name }) => name === 'eth/block_18000000')!;
  const { transfers, unattributed } = transfersIn(networkFor('eth'), blockFor(eth), catalogueFor('eth'));
  t.is(unattributed?.length, 16);
  t.regex(unattributed![0]!.evidence, /^withdrawal \d+$/);
  t.true(
    unattributed!.every(
      ({ to, amount }) => amount > 10n ** 15n && transfers.every((one) => one.to !== to || one.amount !== amount),
    ),
  );
  const mint = cases.find(({ case: name }) => name === 'base/tx_deposit_1')!;
  t.deepEqual(
    transfersIn(networkFor('base'), blockFor(mint), new Map()).ignored.map(({ reason }) => reason),
    ['native transfer to oneself'],
  );
});

test('V1 G13 a bridge deposit of type 0x7e and types unknown to us are read like any other', (t) => {
  const deposit = cases.find(({ case: name }) => name === 'base/tx_deposit_3')!;
  const block = blockFor(deposit);
  t.is(block.raw.block.transactions[0]!.type, '0x7e');
  const renamed = {
    ...block,
    raw: {
      ...block.raw,
      block: {
        ...block.raw.block,
        transactions: block.raw.block.transactions.map((one) => ({ ...one, type: '0x5f' })),
      },
    },
  };
  for (const one of [block, renamed]) {
    t.deepEqual(
      transfersIn(networkFor('base'), one, new Map()).transfers.map(({ amount }) => amount),
      [830_000_000_000_000_000n],
    );
  }
});

test('G18 outcomes name success, failure and the fee with its L1 part', (t) => {
  const failed = cases.find(({ case: name }) => name === 'eth/tx_fail_1')!;
  const [outcome] = outcomesIn(networkFor('eth'), blockFor(failed), new Set([failed.mustNotCredit[0]!.txid]));
  t.like(outcome, { success: false, reason: 'reverted' });
  const base = cases.find(({ case: name }) => name === 'base/tx_usd_1')!;
  const block = blockFor(base),
    receipt = block.raw.receipts[0]!;
  const [paid] = outcomesIn(networkFor('base'), block, new Set([receipt.transactionHash]));
  t.true(paid!.success);
  t.is(paid!.fee, BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice!) + BigInt(receipt.l1Fee!));
  t.deepEqual(outcomesIn(networkFor('base'), block, new Set()), []);
});
