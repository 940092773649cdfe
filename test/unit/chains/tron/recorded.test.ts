/** Recorded answers of real nodes through the client, by the replayer. */
import test from 'ava';
import { ChainUnavailable, type Catalogue, type Token } from '../../../../chains/chain.ts';
import { blockFromAnswers } from '../../../../chains/tron/block.ts';
import { createClient } from '../../../../chains/tron/client.ts';
import { tron } from '../../../../chains/tron/network.ts';
import { transfersIn } from '../../../../chains/tron/transfers.ts';
import { replayAnswers, type Exchange } from '../../../support/recorded-endpoint.ts';
import { transportOver } from '../../../support/tron-ledger.ts';
import { answer, expectedCases, sampleTokens, vector, vectorText } from '../../../support/vectors.ts';

const catalogue: Catalogue = new Map(sampleTokens('tron').map((token) => [token.contract, token as Token]));
const shapes = vector<{ cases: { name: string; response: unknown }[] }>('nodes/tron/rpc_shapes.json').cases;
const shape = (name: string): string => JSON.stringify(shapes.find((one) => one.name === name)!.response);
const exchange = (path: string, body: object, text: string): Exchange => ({
  method: 'POST',
  path,
  body: JSON.stringify(body),
  reply: { status: 200, headers: {}, text },
});
const clientOf = (...exchanges: Exchange[]) =>
  createClient(tron, transportOver([replayAnswers('tron', 'recorded', exchanges)]), catalogue);
const BLOCK = vectorText('nodes/tron/block_assembled.getblockbynum.json'),
  INFOS = vectorText('nodes/tron/block_assembled.gettransactioninfobyblocknum.json');
const HEIGHT = 20_829_764,
  HEAD = 66_987_565;
const unavailable = { instanceOf: ChainUnavailable } as const;
const header = shape('getblock');

test('G7 G9 T11 block_assembled through the client: one proven block with the expected credits', async (t) => {
  const client = clientOf(
    exchange('/wallet/getblockbynum', { num: HEIGHT }, BLOCK),
    exchange('/wallet/gettransactioninfobyblocknum', { num: HEIGHT }, INFOS),
    exchange('/wallet/getblock', { id_or_num: String(HEIGHT), detail: false }, BLOCK),
  );
  const block = await client.getBlock(HEIGHT);
  t.like(block, {
    height: HEIGHT,
    hash: '00000000013dd644ea32eddda33c6fd046644d55798c8a26ae7a5eb99b89859a',
    parentHeight: HEIGHT - 1,
    timeMs: 1_592_755_242_000,
  });
  t.is(block.parentHash.slice(0, 16), (HEIGHT - 1).toString(16).padStart(16, '0'));
  const [expected] = expectedCases('tron').filter((entry) => entry.case === 'tron/block_assembled');
  t.deepEqual(
    transfersIn(tron, block, catalogue).transfers.map(({ txid, to, amount }) => [txid, to, amount.toString()]),
    expected!.credits!.map((credit) => [credit.txid, credit.address, credit.amount]),
  );
});

test('blockFromAnswers: the same block from the two answers; without one of them there is none (G8)', (t) => {
  const answers = {
    block: answer('nodes/tron/block_assembled.getblockbynum.json'),
    infos: answer('nodes/tron/block_assembled.gettransactioninfobyblocknum.json'),
  };
  t.is(blockFromAnswers(tron, answers).height, HEIGHT);
  for (const wrong of [
    { ...answers, infos: [] },
    { ...answers, infos: {} },
    { ...answers, block: {} },
  ])
    t.throws(() => blockFromAnswers(tron, wrong), unavailable);
  t.throws(() => blockFromAnswers(tron, { block: answers.block }));
  t.throws(() => blockFromAnswers(tron, { infos: answers.infos }));
});

test('6.2 T10 recorded head and empty block: read from their answers; where the root names transactions, a block without any proves nothing', async (t) => {
  const asked = (block: string) => [
    exchange('/wallet/getblockbynum', { num: HEAD }, block),
    exchange(
      '/wallet/gettransactioninfobyblocknum',
      { num: HEAD },
      shape('gettransactioninfobyblocknum of an empty block'),
    ),
    exchange('/wallet/getblock', { id_or_num: String(HEAD), detail: false }, header),
  ];
  // The recorded one is of the documentation, which leaves its transactions out.
  await t.throwsAsync(() => clientOf(...asked(shape('getblockbynum'))).getBlock(HEAD), {
    ...unavailable,
    message: /transactions are not listed/,
  });
  const empty = shape('getblockbynum').replace(/"txTrieRoot":"[0-9a-f]{64}"/, `"txTrieRoot":"${'0'.repeat(64)}"`);
  const client = clientOf(
    exchange('/wallet/getblock', { detail: false }, header),
    exchange('/walletsolidity/getblock', { detail: false }, header),
    ...asked(empty),
  );
  t.deepEqual(await client.getHead(), {
    height: HEAD,
    hash: '0000000003fe262d52bfa4b2814f816fd2e57af5b98a33d60d8630a03a908e0e',
    finalizedHeight: HEAD,
  });
  t.deepEqual((await client.getBlock(HEAD)).raw.infos, []);
  t.is(await client.nextHeight(HEAD), null);
});

test('T11 G8 a block without transactions beside infos, and one that does not exist, prove nothing', async (t) => {
  const disagree = clientOf(
    exchange('/wallet/getblockbynum', { num: HEAD }, shape('getblockbynum')),
    exchange('/wallet/gettransactioninfobyblocknum', { num: HEAD }, shape('gettransactioninfobyblocknum')),
  );
  await t.throwsAsync(() => disagree.getBlock(HEAD), unavailable);
  const missing = clientOf(
    exchange('/wallet/getblockbynum', { num: HEAD + 1 }, shape('getblockbynum of a block that does not exist')),
  );
  await t.throwsAsync(() => missing.getBlock(HEAD + 1), unavailable);
});

test('6.2 recorded: an account that does not exist is a real zero; an unknown transaction is null', async (t) => {
  const address = 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH',
    txid = '00'.repeat(32);
  const client = clientOf(
    exchange('/wallet/getblock', { detail: false }, header),
    exchange('/wallet/getaccount', { address, visible: true }, shape('getaccount of an account that does not exist')),
    exchange(
      '/wallet/gettransactioninfobyid',
      { value: txid },
      shape('gettransactioninfobyid of an unknown transaction'),
    ),
  );
  t.deepEqual(await client.fetchBalance(address, null), {
    amount: 0n,
    reserved: 0n,
    available: 0n,
    decimals: 6,
    accountExists: false,
  });
  t.is(await client.getOutcome(txid), null);
});

test('6.2 recorded account: its balance, whatever else it has', async (t) => {
  const [account] = vector<{ data: { address: string; balance: number }[] }>('nodes/tron/trongrid_account.json').data,
    address = 'TFyPAqzXtQPfsxwWq4eudeoxGz6J1hqr9g';
  const client = clientOf(
    exchange('/wallet/getblock', { detail: false }, header),
    exchange('/wallet/getaccount', { address, visible: true }, JSON.stringify(account)),
  );
  t.like(await client.fetchBalance(address, null), { amount: BigInt(account!.balance), accountExists: true });
});

test('T4 recorded infos of a token and a TRX transfer give their outcomes with the transaction beside them', async (t) => {
  for (const [name, type, fee] of [
    ['gettransactioninfobyid of a TRC-20 transfer', 'TriggerSmartContract', 1_649_400n],
    ['gettransactioninfobyid of a TRX transfer (no receipt.result)', 'TransferContract', 0n],
  ] as const) {
    const info = JSON.parse(shape(name)) as { id: string; blockNumber: number },
      { id: txid, blockNumber } = info;
    const block = JSON.stringify({
      blockID: `${blockNumber.toString(16).padStart(16, '0')}${'ab'.repeat(24)}`,
      block_header: { raw_data: { number: blockNumber, parentHash: '00'.repeat(32), timestamp: 5 } },
    });
    const transaction = JSON.stringify({
      ret: [{ contractRet: 'SUCCESS' }],
      txID: txid,
      raw_data: { contract: [{ type }] },
    });
    const client = clientOf(
      exchange('/wallet/getblock', { detail: false }, header),
      exchange('/wallet/getblock', { id_or_num: String(blockNumber), detail: false }, block),
      exchange('/wallet/gettransactioninfobyid', { value: txid }, shape(name)),
      exchange('/wallet/gettransactionbyid', { value: txid }, transaction),
    );
    t.like(await client.getOutcome(txid), { txid, success: true, fee, height: blockNumber });
  }
});
