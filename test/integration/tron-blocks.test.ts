/** What the TRON client reads of a ledger: whole blocks with their proof, heads, outcomes in both views, balances. */
import test from 'ava';
import { ChainUnavailable, MalformedReply, type Catalogue, type Token } from '../../chains/chain.ts';
import { tron } from '../../chains/tron/network.ts';
import { addressWord, encodeTransfer, wordOf } from '../../chains/tron/trc20.ts';
import { outcomesIn, transfersIn } from '../../chains/tron/transfers.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { selectorOf } from '../../developer/stand-ins/tron/machine.ts';
import { keyOf } from '../../developer/stand-ins/tron/stand-in.ts';
import { deployToken, openStage, PAYER, SENDER, SHOP, TRX, type Stage } from '../support/tron-ledger.ts';

const unavailable = { instanceOf: ChainUnavailable } as const;
const catalogueOf = (...tokens: Token[]): Catalogue => new Map(tokens.map((token) => [token.contract, token]));
const FEE_LIMIT = 100_000_000n;

const pay = ({ standIn }: Stage, to: string, amount: bigint) =>
  standIn.send(PAYER, { type: 'TransferContract', to, amount });
const call = ({ standIn }: Stage, contract: string, data: string, callValue = 0n) =>
  standIn.send(PAYER, { type: 'TriggerSmartContract', contract, data, callValue, feeLimit: FEE_LIMIT });
const head = ({ standIn }: Stage) => standIn.ledger.headHeight();

async function readHead(stage: Stage, catalogue: Catalogue = new Map()) {
  const block = await stage.client.getBlock(head(stage));
  return { block, ...transfersIn(tron, block, catalogue) };
}

test('G7 G9 T10 T11 an empty block, and one with payments: linked to its parent, every transaction with its info', async (t) => {
  const stage = openStage();
  stage.standIn.ledger.mine(1);
  const empty = await readHead(stage);
  t.deepEqual(empty.transfers, []);
  t.is(empty.block.parentHash, stage.standIn.ledger.block(head(stage) - 1)!.id);
  const txids = [pay(stage, SENDER.address, 5n), pay(stage, SHOP, 7n)];
  stage.standIn.ledger.mine(1);
  const { block, transfers } = await readHead(stage);
  t.like(block, {
    height: head(stage),
    parentHeight: head(stage) - 1,
    parentHash: empty.block.hash,
    timeMs: stage.standIn.ledger.block(head(stage))!.timeMs,
  });
  t.deepEqual(
    transfers.map(({ txid, to, amount, outputIndex }) => [txid, to, amount, outputIndex]),
    [
      [txids[0], SENDER.address, 5n, -1],
      [txids[1], SHOP, 7n, -1],
    ],
  );
});

test('T2 T3 C1-2 a token that a third party moves, and a plain transfer of it, are seen by their logs', async (t) => {
  const stage = openStage(),
    token = deployToken(stage, { [PAYER.address]: 1_000n });
  const disperser = stage.standIn.deploy('disperser', { kind: 'disperser' });
  call(stage, token.contract, selectorOf('approve(address,uint256)') + addressWord(disperser) + wordOf(500n));
  const txid = call(
    stage,
    disperser,
    selectorOf('disperse(address,address,uint256)') +
      addressWord(token.contract) +
      addressWord(SENDER.address) +
      wordOf(40n),
  );
  const plain = call(stage, token.contract, encodeTransfer(SENDER.address, 2n));
  stage.standIn.ledger.mine(1);
  const { transfers } = await readHead(stage, catalogueOf(token));
  t.deepEqual(
    transfers.map((one) => [one.txid, one.to, one.amount, one.tokenContract, one.outputIndex]),
    [
      [txid, SENDER.address, 40n, token.contract, 0],
      [plain, SENDER.address, 2n, token.contract, 0],
    ],
  );
  t.deepEqual((await readHead(stage)).transfers, [], 'G23: not in the catalogue, not seen');
});

test('T4 java-tron#3037 #3642 #3652 a call that failed is in the block, costs its fee and credits nothing', async (t) => {
  const stage = openStage(),
    token = deployToken(stage, { [PAYER.address]: 5n });
  const failed = call(stage, token.contract, encodeTransfer(SENDER.address, 6n));
  stage.standIn.ledger.mine(1);
  const { block, transfers, ignored } = await readHead(stage, catalogueOf(token));
  t.deepEqual(transfers, []);
  t.like(ignored[0], { txid: failed });
  const [told] = outcomesIn(tron, block, new Set([failed]));
  t.false(told!.success);
  t.true(told!.fee! > 0n);
  t.like(await stage.client.getOutcome(failed), { success: false, fee: told!.fee, height: head(stage) });
});

test('T5 TRX that a contract sends on is seen where the nodes record it; where one does not, the client says so', async (t) => {
  const stage = openStage(),
    payout = stage.standIn.deploy('payout', { kind: 'payout' });
  const txid = call(stage, payout, selectorOf('payOut(address)') + addressWord(SENDER.address), 3n * TRX);
  stage.standIn.ledger.mine(1);
  t.like((await readHead(stage)).transfers[0], {
    txid,
    to: SENDER.address,
    amount: 3n * TRX,
    outputIndex: -2,
    from: [payout],
  });
  t.true(await stage.client.seesInternal());
  const silent = stage.standIn.openNode();
  silent.knobs.savesInternal = false;
  t.deepEqual(transfersIn(tron, await stage.clientOf([silent]).getBlock(head(stage)), new Map()).transfers, []);
  t.false(await stage.clientOf([silent]).seesInternal());
  t.false(await stage.clientOf([stage.node, silent]).seesInternal(), 'either may answer a block');
  const both = stage.clientOf([stage.node, stage.standIn.openNode()]);
  t.true(await both.seesInternal(), 'proven by the newest blocks of each');
  silent.knobs.down = true;
  t.false(await stage.clientOf([silent]).seesInternal());
});

test('T5 a node that recorded and stops is found out by many calls without any', async (t) => {
  const stage = openStage(),
    payout = stage.standIn.deploy('payout', { kind: 'payout' }),
    token = deployToken(stage, { [PAYER.address]: 5_000n });
  call(stage, payout, selectorOf('payOut(address)') + addressWord(SENDER.address), TRX);
  stage.standIn.ledger.mine(1);
  await stage.client.getBlock(head(stage));
  t.true(await stage.client.seesInternal());
  stage.node.knobs.savesInternal = false;
  stage.standIn.setAccount(PAYER.address, { energyLimit: 10n ** 12n, netLimit: 10n ** 12n });
  for (let made = 0; made < 50; made += 1) call(stage, token.contract, encodeTransfer(SENDER.address, 1n));
  stage.standIn.ledger.mine(1);
  for (let read = 0; read < 19; read += 1) await stage.client.getBlock(head(stage));
  t.true(await stage.client.seesInternal(), '950 calls prove nothing yet');
  await stage.client.getBlock(head(stage));
  stage.standIn.ledger.mine(5);
  t.false(await stage.client.seesInternal());
});

test('V7 T5 balances at one block, by nodes that keep them; another node is no zero', async (t) => {
  const stage = openStage();
  pay(stage, SHOP, 41n);
  stage.standIn.ledger.mine(1);
  const height = head(stage),
    block = { height, hash: stage.standIn.ledger.block(height)!.id };
  await t.throwsAsync(() => stage.client.fetchBalancesAt([SHOP], block), unavailable);
  stage.node.knobs.keepsBalances = true;
  pay(stage, SHOP, 100n);
  stage.standIn.ledger.mine(1);
  t.deepEqual(await stage.client.fetchBalancesAt([SHOP, keyOf('nobody').address], block), [42n, 0n]);
  await t.throwsAsync(
    () => stage.client.fetchBalancesAt([SHOP], { ...block, hash: `${block.hash.slice(0, 16)}${'0'.repeat(48)}` }),
    unavailable,
  );
});

test('6.2 C7 shapeshift/web#12191 balances: TRX, tokens of an account that does not exist, a real zero; a failed read is none', async (t) => {
  const stage = openStage(),
    stranger = keyOf('token only').address,
    token = deployToken(stage, { [stranger]: 9n });
  t.deepEqual(await stage.client.fetchBalance(SENDER.address, null), {
    amount: 100n * TRX,
    reserved: 0n,
    available: 100n * TRX,
    decimals: 6,
    accountExists: true,
  });
  t.like(await stage.client.fetchBalance(stranger, null), { amount: 0n, accountExists: false });
  t.like(await stage.client.fetchBalance(stranger, token), { amount: 9n, decimals: 6, accountExists: false });
  t.like(await stage.client.fetchBalance(SENDER.address, token), { amount: 0n, accountExists: true });
  await t.throwsAsync(() => stage.client.fetchBalance(SENDER.address, { ...token, contract: SHOP }), unavailable);
  stage.node.knobs.lie = (_view, method, _body, answer) => (method === 'getaccount' ? { balance: 5 } : answer);
  await t.throwsAsync(
    () => stage.client.fetchBalance(SENDER.address, null),
    { instanceOf: MalformedReply },
    'a balance of nobody',
  );
  stage.node.knobs.lie = (_view, method, _body, answer) =>
    method === 'triggerconstantcontract' ? { result: { result: true }, constant_result: [''] } : answer;
  await t.throwsAsync(() => stage.client.fetchBalance(SENDER.address, token), unavailable);
});

test('6.4-2 C2-22 below the solidified head an outcome needs both views, at one height and with one result', async (t) => {
  const stage = openStage(),
    txid = pay(stage, SENDER.address, 5n),
    { ledger } = stage.standIn;
  ledger.mine(1);
  const height = head(stage),
    hash = ledger.block(height)!.id;
  t.like(await stage.client.getOutcome(txid), { txid, success: true, reason: null, height, hash }, 'seen at once');
  ledger.mine(18);
  t.like(await stage.client.getHead(), { height: height + 18, finalizedHeight: height });
  t.like(await stage.client.getOutcome(txid), { success: true, height });
  const lieAbout = (change: (answer: any) => unknown, what: string) => {
    stage.node.knobs.lie = (view, method, _body, answer) =>
      view === 'walletsolidity' && method === what ? change(structuredClone(answer)) : answer;
    return t.throwsAsync(() => stage.client.getOutcome(txid), unavailable);
  };
  await lieAbout(() => ({}), 'gettransactioninfobyid');
  await lieAbout((answer) => ({ ...answer, blockNumber: height - 1 }), 'gettransactioninfobyid');
  await lieAbout((answer) => ({ ...answer, result: 'FAILED' }), 'gettransactioninfobyid');
  await lieAbout((answer) => ({ ...answer, ret: [{ contractRet: 'REVERT' }] }), 'gettransactionbyid');
  stage.node.knobs.lie = null;
  stage.node.knobs.solidLagBlocks = 1;
  await t.throwsAsync(
    () => stage.client.getOutcome(txid),
    unavailable,
    'a solidified view that is behind what was seen',
  );
});

test('C2-23 an info without a receipt says nothing; an unknown transaction is null only when every node says so', async (t) => {
  const stage = openStage(),
    txid = pay(stage, SENDER.address, 5n),
    second = stage.standIn.openNode();
  stage.standIn.ledger.mine(1);
  const client = stage.clientOf([stage.node, second]);
  t.is(await client.getOutcome('00'.repeat(32)), null);
  second.knobs.down = true;
  await t.throwsAsync(() => client.getOutcome('00'.repeat(32)), unavailable);
  stage.node.knobs.lie = (_view, method, _body, answer) =>
    method === 'gettransactioninfobyid' ? { ...(answer as object), receipt: undefined } : answer;
  await t.throwsAsync(() => stage.client.getOutcome(txid), unavailable);
  stage.node.knobs.lie = (_view, method, _body, answer) =>
    method === 'gettransactioninfobyid' ? { ...(answer as object), id: '11'.repeat(32) } : answer;
  await t.throwsAsync(() => stage.client.getOutcome(txid), unavailable, 'an info of another transaction');
});

test('G10 G15 a reorg: the old hash is gone, the new branch is read, its transactions are pending or lost', async (t) => {
  const stage = openStage(),
    { ledger } = stage.standIn,
    txid = pay(stage, SENDER.address, 5n);
  ledger.mine(2);
  const height = head(stage) - 1,
    before = await stage.client.getBlockHash(height);
  ledger.reorg(2);
  const after = await stage.client.getBlockHash(height);
  t.not(after, before);
  t.is((await stage.client.getBlock(height)).hash, after!);
  t.is(await stage.client.getOutcome(txid), null);
});

test('K4 V16 what a contract says of itself: texts and decimals, or TOKEN_NOT_SUPPORTED', async (t) => {
  const stage = openStage(),
    token = deployToken(stage, {}, { symbol: 'USDT', name: 'Tether USD', decimals: 6 });
  t.deepEqual(await stage.client.fetchTokenFacts(token.contract), { symbol: 'USDT', name: 'Tether USD', decimals: 6 });
  for (const contract of [SHOP, stage.standIn.deploy('payout', { kind: 'payout' })]) {
    const facts = await stage.client.fetchTokenFacts(contract);
    t.true(isRefusal(facts) && facts.code === 'TOKEN_NOT_SUPPORTED');
  }
  stage.node.knobs.down = true;
  await t.throwsAsync(() => stage.client.fetchTokenFacts(token.contract), unavailable);
});

test('treasury K18: what a TRC-20 contract runs is what it says of itself, and a transfer is tried', async (t) => {
  const stage = openStage(),
    token = deployToken(stage, {}, { symbol: 'USDT', name: 'Tether USD', decimals: 6 });
  const first = await stage.client.fetchTokenCode(token.contract);
  t.like(first, { isDeprecated: false, declined: null });
  t.deepEqual(await stage.client.fetchTokenCode(token.contract), first);
  t.not((await stage.client.fetchTokenCode(SHOP)).declined, null, 'no contract is there');
  stage.node.knobs.down = true;
  await t.throwsAsync(() => stage.client.fetchTokenCode(token.contract), unavailable);
});
