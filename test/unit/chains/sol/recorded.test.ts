/**
 * Recorded answers of real nodes through the client, and through the reader of recorded blocks
 * (test/vectors/SOURCE.md).
 */
import test from 'ava';
import { ChainUnavailable, MalformedReply, type Endpoint } from '../../../../chains/chain.ts';
import { blockFromAnswers } from '../../../../chains/sol/block.ts';
import { createClient } from '../../../../chains/sol/client.ts';
import { solana } from '../../../../chains/sol/network.ts';
import { outcomesIn, transfersIn } from '../../../../chains/sol/transfers.ts';
import { createFailoverTransport } from '../../../../chains/transport/failover.ts';
import { replayAnswers, type Exchange } from '../../../support/recorded-endpoint.ts';
import { answer, expectedCases, vector, vectorText } from '../../../support/vectors.ts';

const exchange = (method: string, params: readonly unknown[], text: string): Exchange => ({
  method: 'POST',
  path: '',
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  reply: { status: 200, headers: {}, text },
});
const getBlock = (slot: number, transactionDetails: 'full' | 'none', text: string): Exchange =>
  exchange(
    'getBlock',
    [
      slot,
      {
        encoding: 'json',
        maxSupportedTransactionVersion: 1,
        transactionDetails,
        rewards: false,
        commitment: 'confirmed',
      },
    ],
    text,
  );
const clientOver = (...endpoints: Endpoint[]) =>
  createClient(
    solana,
    createFailoverTransport({ chain: 'sol', endpoints, elapsedMs: () => 0, random: () => 0.5 }),
    new Map(),
  );
const replay = (...exchanges: Exchange[]) => clientOver(replayAnswers('sol', 'recorded', exchanges));

const BLOCKS = [
  ['getblock_assembled', 371_999_999],
  ['getblock_json_votes', 147_078_735],
  ['getblock_jsonparsed_votes', 147_078_735],
] as const;

for (const [file, slot] of BLOCKS) {
  test(`G9 L19 L23 recorded ${file}: header, link and payments as the node answered them`, async (t) => {
    const text = vectorText(`nodes/sol/${file}.json`),
      raw = answer(`nodes/sol/${file}.json`) as Record<string, unknown>;
    const block = await replay(getBlock(slot, 'full', text)).getBlock(slot);
    t.like(block, {
      height: slot,
      hash: raw['blockhash'],
      parentHash: raw['previousBlockhash'],
      parentHeight: raw['parentSlot'],
      timeMs: Number(raw['blockTime']) * 1_000,
    });
    t.true(block.parentHeight < slot);
    const expected = expectedCases('sol').find(({ files }) => files[0]!.endsWith(`${file}.json`))!;
    const credited = transfersIn(solana, block, new Map()).transfers.map(
      ({ txid, to, amount }) => `${txid} ${to} ${amount}`,
    );
    for (const { txid, address, amount, tokenContract } of expected.credits!) {
      if (tokenContract === null) t.true(credited.includes(`${txid} ${address!} ${amount!}`));
    }
    t.deepEqual(blockFromAnswers(solana, { block: { jsonrpc: '2.0', result: raw }, slot }), block);
    t.is(
      blockFromAnswers(solana, { block: raw }).height,
      Number(raw['parentSlot']) + 1,
      'the answer does not name its slot',
    );
    const [first] = transfersIn(solana, block, new Map()).ignored;
    t.is(outcomesIn(solana, block, new Set([first?.txid ?? ''])).length, first === undefined ? 0 : 1);
  });
}

interface Recorded {
  name: string;
  response: { error?: { code: number; message: string } };
}

for (const { name, response } of vector<{ cases: Recorded[] }>('nodes/sol/errors.json').cases) {
  if (response.error === undefined || response.error.code === -32_002) continue;
  test(`G8 L19 C1-9 C1-8 recorded "${name}": never an empty block, never a skipped slot`, async (t) => {
    const text = JSON.stringify(response),
      slot = 371_999_999;
    const client = replay(getBlock(slot, 'full', text), getBlock(slot, 'none', text));
    const error = await t.throwsAsync(() => client.getBlock(slot), { instanceOf: ChainUnavailable });
    t.true(error.reason.includes(response.error!.message.slice(0, 40)));
    const noBlock = [-32_004, -32_007, -32_009].includes(response.error!.code);
    if (noBlock) t.is(await client.getBlockHash(slot), null, 'no block as this node knows; the parent link decides');
    else await t.throwsAsync(() => client.getBlockHash(slot), { instanceOf: ChainUnavailable });
  });
}

test('C1-9 the slot that answered -32004 three times and then a block', async (t) => {
  const slot = 371_999_999,
    missing = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32_004, message: `Block not available for slot ${slot}` },
    });
  const client = replay(
    ...[1, 2, 3].map(() => getBlock(slot, 'full', missing)),
    getBlock(slot, 'full', vectorText('nodes/sol/getblock_assembled.json')),
  );
  for (let tries = 0; tries < 3; tries += 1)
    await t.throwsAsync(() => client.getBlock(slot), { instanceOf: ChainUnavailable });
  t.true(transfersIn(solana, await client.getBlock(slot), new Map()).transfers.length > 0);
});

test('G8 null, half an answer and a parent that is not before it are no block', async (t) => {
  const slot = 371_999_999,
    raw = answer('nodes/sol/getblock_assembled.json') as Record<string, unknown>;
  const of = (result: unknown) =>
    replay(getBlock(slot, 'full', JSON.stringify({ jsonrpc: '2.0', id: 1, result }))).getBlock(slot);
  await t.throwsAsync(() => of(null), { instanceOf: ChainUnavailable });
  for (const change of [
    { transactions: undefined },
    { transactions: null },
    { blockhash: '' },
    { previousBlockhash: null },
    { parentSlot: slot },
    { parentSlot: -1 },
    { blockHeight: 'x' },
  ]) {
    await t.throwsAsync(() => of({ ...raw, ...change }), { instanceOf: MalformedReply }, JSON.stringify(change));
  }
  t.is((await of({ ...raw, blockTime: null })).timeMs, null, 'L23');
  t.is((await of({ ...raw, blockHeight: null })).height, slot, 'old answers have no height');
});

test('G26 recorded getTransaction of an unknown signature: not in the chain', async (t) => {
  const statuses = exchange(
    'getSignatureStatuses',
    [['sig'], { searchTransactionHistory: true }],
    JSON.stringify({ jsonrpc: '2.0', id: 1, result: { context: { slot: 5 }, value: [null] } }),
  );
  t.is(await replay(statuses).getOutcome('sig'), null);
});
