import { randomBytes } from 'node:crypto';
import test from 'ava';
import { isRefusal } from '../../protocol/errors.ts';
import { EDGE_VERSION } from '../../protocol/frames.ts';
import { newId } from '../../protocol/node/ids.ts';
import { startAnvil } from '../../developer/anvil.ts';
import { enrol, eventually, jsonOf, raw, startTestCloud } from '../support/gateway.ts';

const anvil = await startAnvil({ chainId: 1 });
const cloud = await startTestCloud({
  ETH_RPC_URLS: anvil.url,
  ETH_POLL_MS: '50',
  ETH_CONFIRMATIONS: '2',
  ETH_START_HEIGHT: '0',
  BSC_RPC_URLS: 'http://127.0.0.1:9',
});
const organization = await cloud.organization();
const edge = await enrol(cloud, organization.live);
const { client } = organization.live;
const [payer] = await anvil.rpc<string[]>('eth_accounts');
test.after.always(async () => {
  await cloud.stop();
  await anvil.stop();
});

const ETHER = 10n ** 18n;
const TO = '0x52908400098527886E0F7030069857D2E4169EE7';
// One payment after the other: the node counts the nonce of the payer.
let paying: Promise<unknown> = Promise.resolve();
function pay(address: string, amount: bigint): Promise<string> {
  const paid = paying.then(async () => {
    const txid = await anvil.rpc<string>('eth_sendTransaction', [
      { from: payer, to: address, value: `0x${amount.toString(16)}` },
    ]);
    // The node answers before its block is there: a balance is asked of a block.
    await eventually(
      'the payment is in a block',
      () => anvil.rpc<{ blockNumber: string | null } | null>('eth_getTransactionReceipt', [txid]),
      (receipt) => receipt?.blockNumber != null,
    );
    return txid;
  });
  paying = paid.catch(() => undefined);
  return paid;
}
const newAddress = async (chain: 'eth' | 'bsc' = 'eth') =>
  client.must('createAddress', { body: { chain, userRef: 'u1', tag: 'shop' } });
const build = (body: Record<string, unknown>) =>
  client.call('buildTransaction', { body: { chain: 'eth', to: TO, amount: '1', ...body } as never });

test('treasury S23: transactions are listed by their kind, with a chain, a status or a direction, and not with a user or a tag', async (t) => {
  const { address } = await newAddress();
  await pay(address, ETHER);
  const { id } = await client.must('buildTransaction', { body: { chain: 'eth', from: address, to: TO, amount: '1' } });
  const { content } = await client.must('listTransactions', {
    query: { kind: 'withdrawal', chain: 'eth', status: 'built', size: '200' },
  });
  t.like(
    content.find((row) => row.id === id),
    { kind: 'withdrawal', role: null, operationId: null },
  );
  t.deepEqual((await client.must('listTransactions', { query: { kind: 'sweep' } })).content, []);
  for (const by of [{ userRef: 'u1' }, { tag: 'shop' }])
    t.like(await client.call('listTransactions', { query: { kind: 'withdrawal', ...by } }), {
      code: 'INVALID_INPUT',
      details: { field: 'query.kind' },
    });
  t.like(await client.call('listTransactions', { query: { kind: 'fund' as never } }), { code: 'INVALID_INPUT' });
});

test('§2.4 a balance is what the chain says, with reserve and existence; a token by its contract', async (t) => {
  const { address } = await newAddress();
  await pay(address, (3n * ETHER) / 2n);
  const balance = await client.must('getBalance', { params: { chain: 'eth', address } });
  t.deepEqual(balance, {
    amount: '1500000000000000000',
    amountFormatted: '1.5',
    decimals: 18,
    chain: 'eth',
    address,
    tokenContract: null,
    tokenSymbol: 'ETH',
    reserved: '0',
    available: '1500000000000000000',
    accountExists: true,
  });
  t.is(
    (await client.must('getBalance', { params: { chain: 'eth', address: address.toLowerCase() } })).address,
    address,
    'one address, one form',
  );
  const page = await client.must('listBalances', { query: { chain: 'eth', userRef: 'u1' } });
  t.true(page.content.some((row) => row.address === address && row.amount === balance.amount));
  t.like(await client.call('getTokenBalance', { params: { chain: 'eth', address, token: TO } }), {
    code: 'TOKEN_NOT_SUPPORTED',
  });
  t.like(
    await client.call('getTokenBalance', {
      params: { chain: 'eth', address, token: '0x55d398326f99059fF775485246999027B3197955' },
    }),
    { code: 'TOKEN_NOT_ON_CHAIN' },
  );
});

test('§1.7 an unreachable chain is CHAIN_UNAVAILABLE, never a zero, also within a list', async (t) => {
  const { address } = await newAddress('bsc');
  for (const answer of [
    await client.call('getBalance', { params: { chain: 'bsc', address } }),
    await client.call('listBalances', { query: { chain: 'bsc' } }),
    await client.call('getFees', { params: { chain: 'bsc' } }),
  ]) {
    t.like(answer, { code: 'CHAIN_UNAVAILABLE', details: { chain: 'bsc' } });
    t.notRegex(JSON.stringify(answer), /127\.0\.0\.1/, 'no endpoint is told');
  }
});

test("§5.6 the balance of an address that is not the account's is NOT_FOUND; a broken one is INVALID_ADDRESS", async (t) => {
  t.like(await client.call('getBalance', { params: { chain: 'eth', address: TO } }), { code: 'NOT_FOUND' });
  const other = await cloud.organization();
  await enrol(cloud, other.live);
  const { address } = await other.live.client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } });
  t.like(await client.call('getBalance', { params: { chain: 'eth', address } }), { code: 'NOT_FOUND' });
  const wrong = [
    '0x52908400098527886E0F7030069857D2E4169Ee7',
    '0x1234',
    'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
    'x'.repeat(129),
  ];
  for (const text of wrong)
    t.like(
      await client.call('getBalance', { params: { chain: 'eth', address: text } }),
      { code: 'INVALID_ADDRESS' },
      text,
    );
});

test('§4.2 a deposit is listed with its explorer page; filters by direction, status, userRef and tag', async (t) => {
  const { address } = await newAddress();
  const txid = await pay(address, ETHER);
  await anvil.rpc('anvil_mine', ['0x3']);
  const found = await eventually(
    'the deposit is confirmed',
    async () =>
      (await client.must('listTransactions', { query: { direction: 'in' } })).content.filter(
        (row) => row.address === address,
      ),
    (rows) => rows[0]?.status === 'confirmed',
  );
  const [deposit] = found;
  t.like(deposit, {
    direction: 'in',
    chain: 'eth',
    environment: 'live',
    txid,
    amount: '1000000000000000000',
    amountFormatted: '1',
    decimals: 18,
    tokenContract: null,
    tokenSymbol: 'ETH',
    userRef: 'u1',
    tag: 'shop',
    threshold: 2,
    incarnation: 1,
    explorerUrl: `https://etherscan.io/tx/${txid}`,
  });
  t.true(deposit!.confirmations >= 2);
  t.like(await client.must('getTransaction', { params: { id: deposit!.id } }), { id: deposit!.id, txid });
  for (const [query, hits] of [
    [{ status: 'confirmed', userRef: 'u1', tag: 'shop' }, true],
    [{ direction: 'out' }, false],
    [{ status: 'reversed' }, false],
    [{ userRef: 'nobody' }, false],
    [{ chain: 'bsc' }, false],
  ] as const) {
    const rows = (await client.must('listTransactions', { query: query as never })).content;
    t.is(
      rows.some((row) => row.id === deposit!.id),
      hits,
      JSON.stringify(query),
    );
  }
  const other = await cloud.organization();
  t.like(await other.live.client.call('getTransaction', { params: { id: deposit!.id } }), { code: 'NOT_FOUND' });
  t.like(await client.call('getTransaction', { params: { id: newId('dep', Date.now()) } }), { code: 'NOT_FOUND' });
  t.like(await client.call('getTransaction', { params: { id: 'nothing' } }), { code: 'NOT_FOUND' });
});

test('issue 2 "What bad input gets": amounts that are no amounts are INVALID_AMOUNT, other types INVALID_INPUT', async (t) => {
  const { address } = await newAddress();
  for (const amount of [
    '0',
    '-1',
    '1.5',
    '1e18',
    '0x10',
    '01',
    '+1',
    ' 1',
    '',
    'NaN',
    'Infinity',
    '9'.repeat(79),
    '１',
  ])
    t.like(await build({ from: address, amount }), { code: 'INVALID_AMOUNT' }, amount);
  const headers = jsonOf(organization.live.apiKey);
  for (const amount of [1, 1.5, null, true, ['1'], { amount: '1' }]) {
    const answer = await raw(cloud.url, 'POST', '/v1/transactions/unsigned', {
      headers,
      body: JSON.stringify({ chain: 'eth', from: address, to: TO, amount }),
    });
    t.deepEqual([answer.status, answer.json.error.code], [400, 'INVALID_INPUT'], JSON.stringify(amount));
  }
  t.like(await build({ from: address, amount: '9'.repeat(78) }), { code: 'INSUFFICIENT_FUNDS' });
});

test('§4.2 a build is refused for foreign, broken and unwise addresses, tokens and empty accounts', async (t) => {
  const { address } = await newAddress();
  t.like(await build({ from: TO, to: address }), { code: 'NOT_FOUND', details: { field: 'from' } });
  t.like(await build({ from: 'x' }), { code: 'INVALID_ADDRESS', details: { field: 'from' } });
  t.like(await build({ from: address, to: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' }), {
    code: 'INVALID_ADDRESS',
    details: { field: 'to' },
  });
  t.like(await build({ from: address, to: '0x0000000000000000000000000000000000000000' }), { code: 'INVALID_ADDRESS' });
  t.like(await build({ from: address, tokenContract: TO }), { code: 'TOKEN_NOT_SUPPORTED' });
  t.like(await build({ from: address, tokenContract: '0x55d398326f99059fF775485246999027B3197955' }), {
    code: 'TOKEN_NOT_ON_CHAIN',
  });
  t.like(await build({ from: address }), { code: 'INSUFFICIENT_FUNDS' });
  t.like(await build({ from: address, colour: 'red' }), { code: 'INVALID_INPUT' });
});

test('§4.2 a built transaction says everything that the edge must check; nothing is signed; PATCH prices it anew', async (t) => {
  const { address, derivationPath } = await newAddress();
  await pay(address, 2n * ETHER);
  const made = await client.must('buildTransaction', {
    body: { chain: 'eth', from: address.toLowerCase(), to: TO, amount: '1000000000000000000' },
    idempotencyKey: 'build-1',
  });
  t.like(made, {
    chain: 'eth',
    status: 'built',
    from: address,
    to: TO,
    amount: '1000000000000000000',
    amountFormatted: '1',
    decimals: 18,
    tokenContract: null,
    tokenSymbol: 'ETH',
  });
  t.like(made.unsigned, {
    chain: 'eth',
    from: address,
    fromPath: derivationPath,
    to: TO,
    amount: '1000000000000000000',
    kind: 'payment',
    sendAll: false,
    replayKey: { kind: 'nonce', value: 0 },
  });
  t.regex(made.unsigned.payload, /^0x[0-9a-f]+$/);
  t.true(BigInt(made.feeEstimate.feeMax) >= BigInt(made.feeEstimate.fee) && BigInt(made.feeEstimate.fee) > 0n);
  const again = await client.ask('buildTransaction', {
    body: { chain: 'eth', from: address.toLowerCase(), to: TO, amount: '1000000000000000000' },
    idempotencyKey: 'build-1',
  });
  t.true(again.replayed);
  t.deepEqual(again.outcome, made, 'amounts survive the store');
  await anvil.rpc('anvil_setNextBlockBaseFeePerGas', ['0x12a05f2000']);
  await anvil.rpc('anvil_mine', ['0x1']);
  const repriced = await client.must('repriceTransaction', { params: { id: made.id } });
  t.like(repriced, {
    id: made.id,
    status: 'built',
    to: TO,
    amount: made.amount,
    unsigned: { replayKey: { kind: 'nonce', value: 0 } },
  });
  t.true(BigInt(repriced.unsigned.feeMax) > BigInt(made.unsigned.feeMax), 'the base fee rose');
  const record = await client.must('getTransaction', { params: { id: made.id } });
  t.like(record, {
    direction: 'out',
    status: 'built',
    txid: null,
    explorerUrl: null,
    threshold: 2,
    confirmations: 0,
    counterparty: TO,
  });
  const all = await client.must('buildTransaction', { body: { chain: 'eth', from: address, to: TO, amount: 'all' } });
  t.true(all.unsigned.sendAll);
  t.is(BigInt(all.amount) + BigInt(all.unsigned.feeMax), 2n * ETHER);
  const other = await cloud.organization();
  t.like(await other.live.client.call('repriceTransaction', { params: { id: made.id } }), { code: 'NOT_FOUND' });
});

test('decisions 2: broadcast at the cloud needs a live edge; a signed payload must be the built one', async (t) => {
  const { address } = await newAddress();
  await pay(address, ETHER);
  const made = await client.must('buildTransaction', { body: { chain: 'eth', from: address, to: TO, amount: '1' } });
  t.like(await client.call('broadcastTransaction', { params: { id: made.id } }), { code: 'EDGE_OFFLINE' });
  await edge.client.must('heartbeatEdge', {
    body: {
      sessionId: edge.sessionId,
      edgeVersion: EDGE_VERSION,
      outboxDepth: 0,
      outboxPoisoned: false,
      outboxMode: 'durable',
      podHint: null,
    },
  });
  t.like(
    await client.call('broadcastTransaction', { params: { id: made.id } }),
    { code: 'EDGE_NO_LEADER' },
    'alive, and nobody holds the lease',
  );
  t.like(await client.call('broadcastTransaction', { params: { id: newId('txn', Date.now()) } }), {
    code: 'NOT_FOUND',
  });
  const forged = await edge.client.call('submitSigned', {
    params: { id: made.id },
    body: {
      signedPayload: `0x02${randomBytes(90).toString('hex')}`,
      txid: `0x${randomBytes(32).toString('hex')}`,
      sessionId: edge.sessionId,
      leaseEpoch: 0,
    },
  });
  t.true(isRefusal(forged));
  t.regex((forged as { code: string }).code, /^(?:SIGNED_BATCH_REJECTED|LEASE_EPOCH_STALE|EDGE_NO_LEADER)$/);
  t.is((await client.must('getTransaction', { params: { id: made.id } })).status, 'built');
});

test('decisions 9: fees of a chain, and of a transfer', async (t) => {
  const general = await client.must('getFees', { params: { chain: 'eth' } });
  t.like(general, { chain: 'eth', symbol: 'ETH', decimals: 18 });
  t.true(BigInt(general.fee) > 0n && BigInt(general.feeMax) >= BigInt(general.fee));
  t.like(await client.call('getFees', { params: { chain: 'eth' }, query: { from: TO } }), { code: 'NOT_FOUND' });
  t.like(await client.call('getFees', { params: { chain: 'eth' }, query: { amount: '-1' } }), {
    code: 'INVALID_AMOUNT',
  });
  const fresh = await cloud.organization();
  t.like(await fresh.live.client.call('getFees', { params: { chain: 'eth' } }), { code: 'CHAIN_NOT_READY' });
});

test('decisions 5: coverage tells what is done, what is not and how far behind', async (t) => {
  const coverage = await eventually(
    'the chain is covered',
    () => client.must('getCoverage', { params: { chain: 'eth' } }),
    ({ completeHeight }) => completeHeight !== null,
  );
  t.like(coverage, { chain: 'eth', unresolved: [] });
  t.true(coverage.headHeight! >= coverage.completeHeight! && coverage.lag! >= 0);
  t.like(await client.call('getCoverage', { params: { chain: 'btc' } }), {
    code: 'CHAIN_UNAVAILABLE',
    details: { permanent: true },
  });
  t.is(
    (await raw(cloud.url, 'GET', '/v1/chains/ETH/coverage', { headers: { 'x-api-key': organization.live.apiKey } }))
      .json.error.code,
    'INVALID_CHAIN',
  );
});

test('§2.5 the token catalogue names every chain of a token once, as a deployment or with the reason why not', async (t) => {
  const { content } = await client.must('listTokens');
  t.true(content.length >= 2);
  for (const { symbol, deployments, unsupportedChains } of content) {
    const chains = [...deployments.map(({ chain }) => chain), ...unsupportedChains.map(({ chain }) => chain)];
    t.is(new Set(chains).size, 10, symbol);
    t.is(chains.length, 10, symbol);
  }
  const usdc = content.find(({ symbol }) => symbol === 'USDC')!;
  t.like(
    usdc.deployments.find(({ chain }) => chain === 'eth'),
    { contractAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', decimals: 6, monitored: true },
  );
});

test('found F76: a broadcast of a build that expired says that it was never signed, and to build it again', async (t) => {
  const { address } = await newAddress();
  await pay(address, ETHER);
  const built = await build({ from: address });
  if (isRefusal(built)) return t.fail(JSON.stringify(built));
  await cloud.database.owner`update flock.withdrawal set status = 'expired' where id = ${built.id}`;
  const refused = await client.call('broadcastTransaction', { params: { id: built.id } });
  t.like(refused, { code: 'CONFLICT', details: { reason: 'closed', status: 'expired', signed: false } });
  t.regex(JSON.stringify(refused), /build it again/);
});
