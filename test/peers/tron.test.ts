/** The TRON stand-in, held to recorded answers of real nodes and to the rules that java-tron enforces. */
import test from 'ava';
import fc from 'fast-check';
import { sandboxOf, signedOn } from '../../chains/sandbox-networks.ts';
import { decodeRaw } from '../../chains/tron/raw-transaction.ts';
import { decodeSigned } from '../../chains/tron/signed.ts';
import { tron } from '../../chains/tron/network.ts';
import { selectorOf } from '../../developer/stand-ins/tron/machine.ts';
import { signerOf } from '../../developer/stand-ins/tron/execute.ts';
import {
  assembleTransaction,
  packRaw,
  parseTransaction,
  transactionJson,
  type PeerTransaction,
} from '../../developer/stand-ins/tron/transaction.ts';
import {
  createTronStandIn,
  keyOf,
  signedBytes,
  trc20,
  type KeyPair,
  type PeerNode,
} from '../../developer/stand-ins/tron/stand-in.ts';
import { addressWord, encodeTransfer, wordOf } from '../../chains/tron/trc20.ts';
import { bytesOf } from '../../chains/tron/address.ts';
import { addressOf, signatureOf } from '../../developer/stand-ins/tron/sdk.ts';
import { vector } from '../support/vectors.ts';

type Json = Record<string, any>;
const recordedBlock = vector<Json>('nodes/tron/block_assembled.getblockbynum.json'),
  recordedInfos = vector<Json[]>('nodes/tron/block_assembled.gettransactioninfobyblocknum.json');
const shape = (name: string): any =>
  vector<{ cases: { name: string; response: unknown }[] }>('nodes/tron/rpc_shapes.json').cases.find(
    (one) => one.name === name,
  )!.response;

const ANN = keyOf('ann'),
  BOB = keyOf('bob'),
  NEW = keyOf('nobody yet').address,
  TRX = 1_000_000n,
  CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const hexAddress = (text: string) => `41${Buffer.from(bytesOf(text)).toString('hex')}`;
const dropZeros = (value: any): any =>
  Array.isArray(value)
    ? value.map(dropZeros)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([, entry]) => entry !== 0)
            .map(([key, entry]) => [key, dropZeros(entry)]),
        )
      : value;
const plain = (value: unknown): any =>
  JSON.parse(JSON.stringify(value, (_key, entry: unknown) => (typeof entry === 'bigint' ? Number(entry) : entry)));

function open() {
  const standIn = createTronStandIn({ nowMs: 1_800_000_000_000 }),
    node = standIn.openNode();
  for (const { address } of [ANN, BOB]) standIn.setAccount(address, { balance: 1_000n * TRX });
  const ask = async (path: string, body: Json = {}, of: PeerNode = node): Promise<any> =>
    JSON.parse((await of.endpoint.request({ method: 'POST', path, body: JSON.stringify(body) })).text);
  const { ledger } = standIn;
  const balanceOf = (address: string) => ledger.pendingWorld().accounts.get(address)?.balance ?? 0n;
  /** A transfer with everything changed at will; its answer from `broadcasthex`. */
  const submit = (
    change: Json = {},
    {
      from = ANN,
      value = {},
      signer = from,
      type = 'TransferContract',
    }: { from?: KeyPair; value?: Json; signer?: KeyPair; type?: string } = {},
  ) => {
    const head = ledger.block(ledger.headHeight())!;
    const raw = packRaw(
      {
        contract: [
          {
            type,
            parameter: { value: { owner_address: from.address, to_address: BOB.address, amount: 5n, ...value } },
          },
        ],
        ref_block_bytes: head.id.slice(12, 16),
        ref_block_hash: head.id.slice(16, 32),
        expiration: head.timeMs + 60_000,
        timestamp: head.timeMs,
        ...change,
      },
      true,
    );
    return ask('/wallet/broadcasthex', { transaction: signedBytes(raw, signer).toString('hex') });
  };
  const call = (contract: string, data: string, more: Json = {}, from = ANN) =>
    submit(more, { type: 'TriggerSmartContract', from, value: { contract_address: contract, data, ...more['value'] } });
  return { standIn, node, ledger, ask, balanceOf, submit, call };
}

test('recorded transactions: the same JSON from the same bytes, the same txid, and signatures of their owners', (t) => {
  for (const recorded of recordedBlock['transactions'] as Json[]) {
    const type = recorded['raw_data'].contract[0].type;
    const transaction: PeerTransaction = assembleTransaction(
      Buffer.from(recorded['raw_data_hex'], 'hex'),
      recorded['signature'].map((one: string) => Buffer.from(one, 'hex')),
    );
    t.is(transaction.txid, recorded['txID']);
    if (transaction.type === '') {
      t.false(['TransferContract', 'TriggerSmartContract', 'TransferAssetContract'].includes(type), type);
      continue;
    }
    t.deepEqual(
      plain(transactionJson(transaction, false, recorded['ret'][0].contractRet)),
      dropZeros(recorded),
      recorded['txID'],
    );
    t.is(
      hexAddress(signerOf(transaction.signatures[0]!, transaction.txid)),
      recorded['raw_data'].contract[0].parameter.value.owner_address,
    );
    t.is(packRaw(recorded['raw_data'], false).toString('hex'), recorded['raw_data_hex'], 'packed from the JSON again');
  }
});

test('recorded builder: triggersmartcontract with visible addresses has the very fields', async (t) => {
  const { ask, standIn } = open(),
    recorded = shape('triggersmartcontract (visible true)');
  const contract = standIn.deploy('token', trc20({ balances: new Map([[ANN.address, 5n]]) }));
  const built = await ask('/wallet/triggersmartcontract', {
    owner_address: ANN.address,
    contract_address: contract,
    function_selector: 'transfer(address,uint256)',
    parameter: addressWord(BOB.address) + wordOf(5n),
    fee_limit: 100_000_000,
    visible: true,
  });
  const keysOf = (value: any): any =>
    Array.isArray(value)
      ? value.map(keysOf)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .sort()
              .map(([key, entry]) => [key, keysOf(entry)]),
          )
        : typeof value;
  t.deepEqual(keysOf(built), keysOf(recorded));
  t.is(built.transaction.raw_data.contract[0].parameter.value.data, encodeTransfer(BOB.address, 5n));
});

test('recorded infos: a TRX transfer, a token transfer and both failures have the same fields', async (t) => {
  const { ask, standIn, ledger, submit, call } = open();
  const token = standIn.deploy(
    'token',
    trc20({
      balances: new Map([
        [ANN.address, 5n],
        [BOB.address, 1n],
      ]),
    }),
  );
  const ids = [
    (await submit()).txid,
    (await call(token, encodeTransfer(BOB.address, 5n), { fee_limit: 100_000_000n })).txid,
    (await call(token, encodeTransfer(BOB.address, 5n), { fee_limit: 100_000_001n })).txid,
    (await call(token, encodeTransfer(BOB.address, 1n), { fee_limit: 10_000n })).txid,
  ];
  standIn.setAccount(ANN.address, { freeNetUsed: 600n });
  ledger.mine(1);
  const infos: Json[] = await ask('/wallet/gettransactioninfobyblocknum', { num: ledger.headHeight() });
  t.deepEqual(
    infos.map(({ id }) => id),
    ids,
  );
  const recordedOf = (result: string | undefined) =>
    recordedInfos.find(({ receipt }) => receipt.result === result && receipt.net_fee !== undefined)!;
  const alike = (info: Json, recorded: Json) => {
    t.deepEqual(Object.keys(info).sort(), Object.keys(recorded).sort());
    t.deepEqual(
      Object.keys(info['receipt'])
        .filter((key) => key !== 'net_usage')
        .sort(),
      Object.keys(recorded['receipt'])
        .filter((key) => key !== 'net_fee' || info['receipt'].net_fee !== undefined)
        .sort(),
    );
  };
  t.deepEqual(Object.keys(infos[0]!).sort(), [
    'blockNumber',
    'blockTimeStamp',
    'contractResult',
    'fee',
    'id',
    'receipt',
  ]);
  t.is(infos[0]!['receipt'].result, undefined, 'a TRX transfer has no result of its own');
  alike(infos[1]!, recordedOf('SUCCESS'));
  alike(infos[2]!, recordedOf('REVERT'));
  alike(infos[3]!, recordedOf('OUT_OF_ENERGY'));
  t.is(
    Buffer.from(infos[2]!['resMessage'], 'hex').toString(),
    Buffer.from(recordedOf('REVERT')['resMessage'], 'hex').toString(),
  );
  t.regex(Buffer.from(infos[3]!['resMessage'], 'hex').toString(), /^Not enough energy/);
  t.deepEqual(Object.keys(infos[1]!['log'][0]).sort(), Object.keys(recordedOf('SUCCESS')['log'][0]).sort());
});

test('recorded heads: a header, an empty block without transactions, `{}` for one that is not there', async (t) => {
  const { ask, ledger } = open();
  ledger.mine(1);
  const header = await ask('/wallet/getblock', { detail: false });
  t.deepEqual(Object.keys(header).sort(), Object.keys(shape('getblock')).sort());
  t.deepEqual(
    Object.keys(header.block_header.raw_data).sort(),
    Object.keys(shape('getblock').block_header.raw_data).sort(),
  );
  t.is(Number.parseInt(header.blockID.slice(0, 16), 16), header.block_header.raw_data.number);
  t.false('transactions' in (await ask('/wallet/getblockbynum', { num: ledger.headHeight() })));
  t.deepEqual(
    await ask('/wallet/getblockbynum', { num: ledger.headHeight() + 1 }),
    shape('getblockbynum of a block that does not exist'),
  );
  t.deepEqual(
    await ask('/wallet/gettransactioninfobyblocknum', { num: ledger.headHeight() }),
    shape('gettransactioninfobyblocknum of an empty block'),
  );
  t.deepEqual(
    await ask('/wallet/gettransactioninfobyid', { value: '00'.repeat(32) }),
    shape('gettransactioninfobyid of an unknown transaction'),
  );
  t.deepEqual(
    await ask('/wallet/getaccount', { address: NEW, visible: true }),
    shape('getaccount of an account that does not exist'),
  );
});

test('recorded refusals: the balance of a builder, the size of a signature, an accepted transaction', async (t) => {
  const { ask, submit } = open();
  t.deepEqual(
    await ask('/wallet/createtransaction', {
      owner_address: ANN.address,
      to_address: BOB.address,
      amount: 1e12,
      visible: true,
    }),
    shape('createtransaction refused: balance'),
  );
  const raw_data = { contract: [], ref_block_bytes: '', ref_block_hash: '', expiration: 0, timestamp: 0 };
  const short = await ask('/wallet/broadcasttransaction', {
    visible: true,
    raw_data: {
      ...raw_data,
      contract: [{ type: 'TransferContract', parameter: { value: {} } }],
      expiration: 1.8e12 + 60_000,
    },
    signature: ['00'],
  });
  t.is(short.code, shape('broadcasttransaction refused: signature').code);
  t.is(short.message, shape('broadcasttransaction refused: signature').message);
  const { result, code, message } = await submit();
  t.deepEqual([result, code, message], [true, 'SUCCESS', '']);
  const asJson = await ask('/wallet/broadcasttransaction', { raw_data, signature: [] });
  t.is(
    Buffer.from(asJson.message, 'hex').toString(),
    'Contract validate error : No contract!',
    'hex where addresses are not visible',
  );
});

test("6.2 signatures, reference blocks and expiries are enforced, in the node's order", async (t) => {
  const { submit, ledger } = open(),
    head = ledger.block(ledger.headHeight())!,
    day = 24 * 3_600_000;
  t.like(await submit({}, { signer: BOB }), { code: 'SIGERROR' });
  t.like(await submit({ ref_block_hash: 'ab'.repeat(8) }), { code: 'TAPOS_ERROR', message: 'Tapos check error.' });
  t.like(await submit({ ref_block_bytes: 'ffff' }), { code: 'TAPOS_ERROR' });
  t.like(await submit({ expiration: head.timeMs }), {
    code: 'TRANSACTION_EXPIRATION_ERROR',
    message: 'Transaction expired',
  });
  t.like(await submit({ expiration: head.timeMs + day + 1 }), { code: 'TRANSACTION_EXPIRATION_ERROR' });
  t.like(await submit({ expiration: head.timeMs + day }), { code: 'SUCCESS' });
  t.like(await submit({ expiration: head.timeMs + 3_000 }), { code: 'SUCCESS' });
  t.like(
    await submit({ expiration: 1 }, { signer: BOB }),
    { code: 'TRANSACTION_EXPIRATION_ERROR' },
    'the expiry before the signature',
  );
});

test('6.2 CONTRACT_VALIDATE texts: oneself, nothing, too much, a contract, an account that is not there', async (t) => {
  const { submit, standIn } = open(),
    text = async (value: Json, from = ANN) => (await submit({}, { value, from })).message;
  t.is(await text({ to_address: ANN.address }), 'Contract validate error : Cannot transfer TRX to yourself.');
  t.is(await text({ amount: 0n }), 'Contract validate error : Amount must be greater than 0.');
  t.is(await text({ to_address: '41' }), 'Contract validate error : Invalid toAddress!');
  t.is(
    await text({ amount: 1_000n * TRX + 1n }),
    'Contract validate error : Validate TransferContract error, balance is not sufficient.',
  );
  t.is(
    await text({ to_address: standIn.deploy('c', { kind: 'payout' }) }),
    'Contract validate error : Cannot transfer TRX to a smartContract.',
  );
  const stranger = keyOf('stranger');
  t.is(await text({}, stranger), `Contract validate error : account [${stranger.address}] does not exist`);
});

test('6.2 T17 the txid is remembered before it is validated: a repeat after a refusal is a duplicate too', async (t) => {
  const { submit, ask, ledger, standIn, balanceOf } = open();
  const poor = { amount: 2_000n * TRX };
  t.like(await submit({}, { value: poor }), { code: 'CONTRACT_VALIDATE_ERROR' });
  t.like(await submit({}, { value: poor }), { code: 'DUP_TRANSACTION_ERROR', message: 'Transaction already exists.' });
  const taken = await submit();
  t.like(await submit(), { code: 'DUP_TRANSACTION_ERROR', message: 'Transaction already exists.' });
  const other = standIn.openNode(),
    bytes = ledger.pending().at(-1)!.transaction.bytes.toString('hex');
  t.like(
    await ask('/wallet/broadcasthex', { transaction: bytes }, other),
    { code: 'DUP_TRANSACTION_ERROR', message: 'Dup transaction.' },
    'another node has it from the first',
  );
  const before = balanceOf(BOB.address);
  ledger.mine(1);
  ledger.reorg(1);
  t.is(balanceOf(BOB.address), before - 5n, 'a transaction that was accepted can vanish');
  t.like(await submit({}, {}), { result: true }, 'under a new head it is another transaction');
  t.deepEqual(await ask('/wallet/gettransactioninfobyid', { value: taken.txid }), {});
});

test('T19 bandwidth: staked, else free, else paid; whole or not at all; the pool that all share can be empty', async (t) => {
  const { submit, standIn, ledger, balanceOf } = open();
  const usage = async (change: Json) => {
    standIn.setAccount(ANN.address, { balance: 1_000n * TRX, freeNetUsed: 0n, netLimit: 0n, netUsed: 0n, ...change });
    await submit();
    ledger.mine(1);
    return ledger.block(ledger.headHeight())!.entries[0]!.receipt;
  };
  const bytes = (await usage({}))['net_usage'] as bigint;
  t.true(bytes > 200n && bytes < 300n);
  t.like(await usage({ netLimit: 1_000n, freeNetUsed: 600n }), { net_usage: bytes });
  t.like(await usage({ freeNetUsed: 600n - bytes + 1n, netLimit: bytes - 1n }), { net_fee: bytes * 1_000n });
  t.is(balanceOf(ANN.address), 1_000n * TRX - bytes * 1_000n - 5n);
  ledger.parameters.publicNetLeft = 0n;
  t.like(await usage({}), { net_fee: bytes * 1_000n });
  standIn.setAccount(ANN.address, { balance: 1_000n, freeNetUsed: 600n });
  t.like(await submit(), { code: 'BANDWITH_ERROR', message: 'Account resource insufficient error.' });
});

test('T20 a transfer to a missing account costs two fees and creates it; free bandwidth does not help, staked does', async (t) => {
  const { submit, standIn, ledger, balanceOf, ask } = open();
  const before = balanceOf(ANN.address);
  await submit({}, { value: { to_address: NEW, amount: TRX } });
  ledger.mine(1);
  t.is(before - balanceOf(ANN.address), TRX + 1_100_000n);
  t.like(ledger.block(ledger.headHeight())!.entries[0], { fee: 1_100_000n, receipt: { net_fee: 100_000n } });
  t.is((await ask('/wallet/getaccount', { address: NEW, visible: true })).balance, Number(TRX));
  standIn.setAccount(ANN.address, { netLimit: 5_000n });
  await submit({}, { value: { to_address: keyOf('another').address } });
  ledger.mine(1);
  t.is(ledger.block(ledger.headHeight())!.entries[0]!.fee, 1_000_000n);
  standIn.setAccount(ANN.address, { balance: 99_999n, netLimit: 0n });
  t.like(await submit({}, { value: { to_address: keyOf('third').address, amount: 1n } }), { code: 'BANDWITH_ERROR' });
});

test('T21 T24 energy: paid or staked, bounded by the fee limit; pause, blacklist and shortage revert and still cost', async (t) => {
  const { call, standIn, ledger, ask } = open();
  const token = standIn.deploy(
    'token',
    trc20({
      balances: new Map([
        [ANN.address, 100n],
        [BOB.address, 1n],
      ]),
    }),
  );
  const last = () => ledger.block(ledger.headHeight())!.entries[0]!;
  const run = async (data: string, more: Json = {}) => {
    const answer = await call(token, data, { fee_limit: 100_000_000n, timestamp: ledger.headHeight(), ...more });
    if (answer.code !== 'SUCCESS') return answer;
    ledger.mine(1);
    return last();
  };
  t.like(await run(encodeTransfer(BOB.address, 1n)), {
    contractRet: 'SUCCESS',
    receipt: { energy_usage_total: 64_285n, energy_fee: 6_428_500n },
  });
  t.like(
    await run(encodeTransfer(NEW, 1n)),
    { receipt: { energy_usage_total: 130_285n } },
    'a new holder costs about twice',
  );
  standIn.setAccount(ANN.address, { energyLimit: 100_000n });
  t.like(await run(encodeTransfer(BOB.address, 1n)), { receipt: { energy_usage: 64_285n, result: 'SUCCESS' } });
  t.is(last().receipt['energy_fee'], undefined);
  t.like(
    await run(encodeTransfer(BOB.address, 1n), { fee_limit: 6_000_000n }),
    { contractRet: 'OUT_OF_ENERGY', logs: [] },
    'energy that is there does not make up for a low limit',
  );
  t.like(await run(encodeTransfer(BOB.address, 1_000n)), {
    contractRet: 'REVERT',
    resMessage: 'REVERT opcode executed',
  });
  t.like(await run(encodeTransfer(BOB.address, 1n), { fee_limit: 15_000_000_001n }), {
    code: 'CONTRACT_VALIDATE_ERROR',
    message: 'Contract validate error : feeLimit must be >= 0 and <= 15000000000',
  });
  t.like(await run('deadbeef'), { contractRet: 'REVERT' });
  ledger.edit((world) => {
    (world.contracts.get(token) as ReturnType<typeof trc20>).paused = true;
  });
  const tried = await ask('/wallet/triggerconstantcontract', {
    owner_address: ANN.address,
    contract_address: token,
    function_selector: 'transfer(address,uint256)',
    parameter: addressWord(BOB.address) + wordOf(1n),
    visible: true,
  });
  t.like(tried, {
    result: { result: true, message: Buffer.from('REVERT opcode executed').toString('hex') },
    transaction: { ret: [{ ret: 'FAILED' }] },
  });
  t.like(await run(encodeTransfer(BOB.address, 1n)), { contractRet: 'REVERT' });
  ledger.edit((world) => {
    Object.assign(world.contracts.get(token)!, { paused: false, blacklist: new Set([ANN.address]) });
  });
  t.like(await run(encodeTransfer(BOB.address, 1n)), { contractRet: 'REVERT' });
  t.like(
    await ask('/wallet/triggerconstantcontract', {
      owner_address: ANN.address,
      contract_address: NEW,
      function_selector: 'name()',
      visible: true,
    }),
    { result: { code: 'CONTRACT_VALIDATE_ERROR' } },
  );
  t.like(await call(NEW, 'aa'), { message: 'Contract validate error : No contract or not a smart contract' });
});

test('T3 T5 third parties move tokens by transferFrom, contracts move TRX; the second is shown only where it is recorded', async (t) => {
  const { call, standIn, ledger, ask, node } = open();
  const token = standIn.deploy('token', trc20({ balances: new Map([[ANN.address, 100n]]) })),
    payout = standIn.deploy('payout', { kind: 'payout' }),
    disperser = standIn.deploy('disperser', { kind: 'disperser' });
  await call(token, selectorOf('approve(address,uint256)') + addressWord(disperser) + wordOf(50n), {
    fee_limit: 100_000_000n,
  });
  await call(
    disperser,
    selectorOf('disperse(address,address,uint256)') + addressWord(token) + addressWord(BOB.address) + wordOf(7n),
    { fee_limit: 100_000_000n },
  );
  await call(payout, selectorOf('payOut(address)') + addressWord(NEW), {
    fee_limit: 100_000_000n,
    value: { call_value: 3n * TRX },
  });
  ledger.mine(1);
  const infos: Json[] = await ask('/wallet/gettransactioninfobyblocknum', { num: ledger.headHeight() });
  t.like(infos[1]!['log'][0], { address: hexAddress(token).slice(2), data: wordOf(7n) });
  t.like(infos[2]!['internal_transactions'][0], {
    transferTo_address: hexAddress(NEW),
    callValueInfo: [{ callValue: 3_000_000 }],
    note: Buffer.from('call').toString('hex'),
  });
  node.knobs.savesInternal = false;
  t.false(
    'internal_transactions' in (await ask('/wallet/gettransactioninfobyblocknum', { num: ledger.headHeight() }))[2],
  );
  t.is((await ask('/wallet/getaccount', { address: NEW, visible: true })).balance, 3_000_000);
});

test('6.4 the solidified head trails by 18, never rolls back, and shows what it had', async (t) => {
  const { ledger, ask, submit } = open();
  const { txid } = await submit();
  ledger.mine(1);
  const at = ledger.headHeight();
  ledger.mine(17);
  t.deepEqual(await ask('/walletsolidity/gettransactioninfobyid', { value: txid }), {});
  t.like(await ask('/wallet/gettransactioninfobyid', { value: txid }), { blockNumber: at });
  ledger.mine(1);
  t.like(await ask('/walletsolidity/gettransactioninfobyid', { value: txid }), { blockNumber: at });
  t.is((await ask('/walletsolidity/getnowblock')).block_header.raw_data.number, at);
  t.throws(() => ledger.reorg(19), { instanceOf: RangeError });
  const before = (await ask('/wallet/getnowblock')).blockID;
  ledger.reorg(18);
  const after = await ask('/wallet/getnowblock');
  t.not(after.blockID, before);
  t.is(after.block_header.raw_data.number, ledger.headHeight());
  t.is(
    (await ask('/wallet/getblockbynum', { num: at + 1 })).block_header.raw_data.parentHash,
    (await ask('/wallet/getblockbynum', { num: at })).blockID,
  );
});

test('a reorg may keep its transactions waiting: they are in a block again, at another height', async (t) => {
  const { ledger, submit, balanceOf } = open();
  const { txid } = await submit(),
    held = balanceOf(BOB.address);
  ledger.mine(1);
  const first = ledger.find(txid)!.block.id;
  ledger.reorg(1, 'waiting');
  t.is(ledger.find(txid), null);
  t.is(balanceOf(BOB.address), held);
  ledger.mine(1);
  t.not(ledger.find(txid)!.block.id, first);
});

test('a node can lag, lie, limit, forget, lack paths and die; the others over the same ledger are not touched', async (t) => {
  const { standIn, ledger, ask, submit } = open(),
    bad = standIn.openNode(),
    { knobs } = bad;
  const { txid } = await submit();
  ledger.mine(3);
  knobs.lagBlocks = 3;
  t.is((await ask('/wallet/getnowblock', {}, bad)).block_header.raw_data.number, ledger.headHeight() - 3);
  t.deepEqual(await ask('/wallet/getblockbynum', { num: ledger.headHeight() }, bad), {});
  t.deepEqual(await ask('/wallet/gettransactioninfobyid', { value: txid }, bad), {});
  t.is((await ask('/wallet/getaccount', { address: BOB.address, visible: true }, bad)).balance, Number(1_000n * TRX));
  knobs.lagBlocks = 0;
  knobs.keepsInfos = false;
  t.deepEqual(await ask('/wallet/gettransactioninfobyblocknum', { num: ledger.headHeight() - 2 }, bad), []);
  knobs.keepsInfos = true;
  knobs.missing.add('wallet/getblock');
  t.is((await bad.endpoint.request({ method: 'POST', path: '/wallet/getblock', body: '{}' })).status, 404);
  knobs.lie = (_view, method, _body, answer) => (method === 'getaccount' ? {} : answer);
  t.deepEqual(await ask('/wallet/getaccount', { address: BOB.address, visible: true }, bad), {});
  knobs.broadcast = { code: 'SERVER_BUSY', message: 'Server busy.' };
  const bytes = ledger.find(txid)!.entry.transaction.bytes.toString('hex');
  t.like(await ask('/wallet/broadcasthex', { transaction: bytes }, bad), { result: false, code: 'SERVER_BUSY' });
  knobs.limited = 403;
  t.is((await bad.endpoint.request({ method: 'POST', path: '/wallet/getnowblock' })).status, 403);
  for (const limited of [429, 403] as const) {
    knobs.limited = limited;
    knobs.down = limited === 403;
    if (limited === 429)
      await t.throwsAsync(() => bad.endpoint.request({ method: 'POST', path: '/wallet/getnowblock' }), {
        message: /rate limited/,
      });
    else
      await t.throwsAsync(() => bad.endpoint.request({ method: 'POST', path: '/wallet/getnowblock' }), {
        message: /ECONNREFUSED/,
      });
  }
  t.is((await ask('/wallet/getnowblock')).block_header.raw_data.number, ledger.headHeight());
});

test('balances by block are there only where they are kept, and then exactly', async (t) => {
  const { ledger, ask, node, submit } = open();
  const asked = (height: number, hash = ledger.block(height)!.id) => ({
    account_identifier: { address: BOB.address },
    block_identifier: { hash, number: height },
    visible: true,
  });
  await submit();
  ledger.mine(1);
  const height = ledger.headHeight(),
    block = { hash: ledger.block(height)!.id, number: height };
  t.is((await ask('/wallet/getaccountbalance', asked(height))).balance, undefined, 'a node without the setting says 0');
  t.regex((await ask('/wallet/getblockbalance', block)).Error, /ItemNotFoundException/);
  node.knobs.keepsBalances = true;
  t.is((await ask('/wallet/getaccountbalance', asked(height))).balance, Number(1_000n * TRX) + 5);
  t.is((await ask('/wallet/getaccountbalance', asked(height - 1))).balance, Number(1_000n * TRX));
  t.like(await ask('/wallet/getblockbalance', block), { block_identifier: block });
  t.regex((await ask('/wallet/getaccountbalance', asked(height, '00'.repeat(32)))).Error, /do not match/);
});

test('over HTTP: the same answers, 404 for other paths, a closed connection when it is down', async (t) => {
  const { node, ledger } = open(),
    url = await node.listen();
  t.teardown(() => node.close());
  const post = (path: string, body = '{}') => fetch(url + path, { method: 'POST', body });
  const answer = (await (await post('/wallet/getblock', '{"detail":false}')).json()) as Json;
  t.is(answer['block_header'].raw_data.number, ledger.headHeight());
  for (const path of ['/', '/wallet/nothing', '/walletsolidity/broadcasthex', '/v1/accounts'])
    t.is((await post(path)).status, 404, path);
  t.regex(((await (await post('/wallet/getnowblock', 'junk')).json()) as Json)['Error'], /^class java\.lang/);
  node.knobs.limited = 429;
  t.is((await post('/wallet/getnowblock')).status, 429);
  node.knobs.limited = null;
  node.knobs.down = true;
  await t.throwsAsync(() => post('/wallet/getnowblock'));
});

/** A payment by the code of the stand-in's people, in our payload's form. */
const paid = (amount = 5n) =>
  signedBytes(
    packRaw(
      {
        contract: [
          {
            type: 'TransferContract',
            parameter: { value: { owner_address: ANN.address, to_address: BOB.address, amount } },
          },
        ],
        ref_block_bytes: 'e5e0',
        ref_block_hash: '2c5c36c5fea2de8a',
        expiration: 1_800_000_060_000,
        timestamp: 1_800_000_000_000,
      },
      true,
    ),
    ANN,
  );

test('property: bytes that our reader takes, tronweb reads in the same way: fields, txid, signer', (t) => {
  let taken = 0;
  fc.assert(
    fc.property(fc.bigInt(1n, 2n ** 62n), fc.nat(400), fc.nat(255), (amount, at, by) => {
      const bytes = Uint8Array.from(paid(amount), (byte, n) => (n === at ? byte ^ by : byte));
      const ours = decodeSigned(tron, Buffer.from(bytes).toString('hex')),
        raw = ours.ok ? decodeRaw(ours.payload) : null;
      if (!ours.ok || raw?.ok !== true || raw.raw.contract.type !== 'TransferContract') return;
      taken += 1;
      const theirs = parseTransaction(Buffer.from(bytes)),
        { owner, to, amount: moved } = raw.raw.contract;
      t.is(theirs.txid, ours.txid);
      t.is(signerOf(theirs.signatures[0]!, theirs.txid), ours.from);
      t.like(theirs, {
        refBlockHash: raw.raw.refBlockHash,
        expiration: BigInt(raw.raw.expirationMs),
        value: { owner_address: owner, to_address: to, amount: moved },
      });
    }),
    // The sample: a high s, which nodes take and tronweb alone does not.
    { numRuns: 200, examples: [[1n, 168, 128]] },
  );
  t.true(taken > 50);
});

test('a signature is of its key in each form that a node takes; F10: one for the sandbox is of nobody here', (t) => {
  const {
      txid,
      signatures: [signature],
    } = parseTransaction(paid()),
    digest = Buffer.from(txid, 'hex');
  const withHeader = (header: number) => Buffer.concat([signature!.subarray(0, 64), Uint8Array.of(header)]),
    id = signature![64]! - 27;
  for (const header of [id, 27 + id, 31 + id]) t.is(signerOf(withHeader(header), txid), ANN.address, String(header));
  t.is(signerOf(Buffer.concat([signature!, Uint8Array.of(7)]), txid), ANN.address, 'what follows is ignored');
  const highS = wordOf(CURVE_ORDER - BigInt(`0x${signature!.subarray(32, 64).toString('hex')}`)),
    mirrored = Buffer.concat([signature!.subarray(0, 32), Buffer.from(highS, 'hex'), Uint8Array.of(27 + (1 - id))]);
  t.is(signerOf(mirrored, txid), ANN.address, 'a high s with the other id is the same signature to a node');
  for (const wrong of [
    withHeader(29 + id),
    withHeader(35),
    withHeader(255),
    signature!.subarray(0, 64),
    Buffer.alloc(65),
  ]) {
    t.throws(() => signerOf(wrong, txid), { message: /^Validate signature error/ });
  }
  t.not(signerOf(signatureOf(signedOn(sandboxOf(tron), digest), ANN.privateKey), txid), ANN.address);
});

test('property: an address is the same 20 bytes to tronweb and to us', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (account) =>
      t.deepEqual(Buffer.from(bytesOf(addressOf(account))), Buffer.from(account)),
    ),
    { numRuns: 100 },
  );
});
