/** Build, sign, submit and bury payments on the network's own virtual machine. */
import { SystemProgram } from '@solana/web3.js';
import { base58 } from '@scure/base';
import test, { type ExecutionContext } from 'ava';
import { ChainUnavailable, MalformedReply, type Intent, type Signed, type Unsigned } from '../../chains/chain.ts';
import { depositPath } from '../../chains/sol/derive.ts';
import { estimateFee, type SolInputs } from '../../chains/sol/fee.ts';
import { encodeTransaction } from '../../chains/sol/message.ts';
import { solana } from '../../chains/sol/network.ts';
import { TOKEN_2022_PROGRAM } from '../../chains/sol/programs.ts';
import { buildUnsigned, reprice } from '../../chains/sol/unsigned.ts';
import { encodePayment } from '../../chains/sol/payment.ts';
import { solSigner } from '../../edge/signing/signers/sol.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { RpcFailure } from '../../developer/stand-ins/sol/stand-in.ts';
import { putHolding, putMint, transferFee } from '../../developer/stand-ins/sol/tokens.ts';
import { accountOf, paymentOf, PYUSD } from '../support/sol-inputs.ts';
import { keyOf, openSol, SOL, USDC, type SolPeer } from '../support/sol-node.ts';

const OURS = keyOf(1),
  SHOP = keyOf(2).address,
  TANK = keyOf(3);
const unavailable = { instanceOf: ChainUnavailable } as const;
const intentOf = (more: Partial<Intent> = {}): Intent => ({
  chain: 'sol',
  from: OURS.address,
  fromPath: depositPath(0),
  to: SHOP,
  amount: 100_000_000n,
  token: null,
  tag: null,
  ...more,
});

async function attempt({ client }: SolPeer, more: Partial<Intent> = {}): Promise<Unsigned | Refusal> {
  const intent = intentOf(more);
  return buildUnsigned(solana, await client.fetchBuildInputs(intent), intent, null);
}
async function build(peer: SolPeer, more: Partial<Intent> = {}): Promise<Unsigned> {
  const unsigned = await attempt(peer, more);
  if (isRefusal(unsigned)) throw new Error(JSON.stringify(unsigned));
  return unsigned;
}
const sign = (unsigned: Unsigned, ...more: (typeof OURS)[]): Signed => solSigner.sign(solana, unsigned, OURS, ...more);
/** Like the expectation, with a reason that says this. */
function says(t: ExecutionContext, value: object, like: object, reason: RegExp): void {
  t.like(value, like);
  t.regex(JSON.stringify(value), reason);
}
const lamports = ({ ledger }: SolPeer, key: string) => ledger.accounts.at(key, ledger.tip.slot)?.lamports ?? 0n;
const tokens = async ({ client }: SolPeer, owner: string, token = USDC) =>
  (await client.fetchBalance(owner, token)).amount;

async function open(t: Parameters<typeof openSol>[0], options: Parameters<typeof openSol>[1] = {}): Promise<SolPeer> {
  const peer = await openSol(t, options);
  peer.ledger.fund(OURS.address, SOL);
  peer.ledger.fund(TANK.address, SOL);
  putMint(peer.ledger, { mint: USDC.contract, decimals: 6 });
  putMint(peer.ledger, {
    mint: PYUSD.contract,
    decimals: 6,
    program: TOKEN_2022_PROGRAM,
    extensions: [transferFee(100, 10n ** 9n)],
  });
  putHolding(peer.ledger, {
    account: accountOf(OURS.address),
    mint: USDC.contract,
    owner: OURS.address,
    amount: 50_000_000n,
  });
  putHolding(peer.ledger, {
    account: accountOf(OURS.address, PYUSD.contract, TOKEN_2022_PROGRAM),
    mint: PYUSD.contract,
    owner: OURS.address,
    amount: 50_000_000n,
    program: TOKEN_2022_PROGRAM,
    withFee: true,
  });
  peer.ledger.mine();
  return peer;
}

test('G25 G26 G28 L24 L27 L32 built by the cloud, signed at the edge, accepted, known, included; the fee is exactly what was said', async (t) => {
  const peer = await open(t),
    { client, ledger } = peer;
  const unsigned = await build(peer),
    signed = sign(unsigned);
  t.is(unsigned.replayKey.value, String(ledger.lastValidHeight(paymentOf(unsigned).blockhash)));
  t.deepEqual(await client.broadcast(signed), { kind: 'accepted', txid: signed.txid });
  t.deepEqual(await client.broadcast(signed), { kind: 'accepted', txid: signed.txid }, 'L31: the same bytes again');
  t.like(await client.getFate(unsigned, signed.txid), { kind: 'unknown' });
  t.is(await client.getOutcome(signed.txid), null);
  ledger.mine();
  t.like(await client.getFate(unsigned, signed.txid), {
    kind: 'included',
    height: ledger.tip.slot,
    hash: ledger.tip.hash,
    outcome: { success: true, fee: unsigned.feeMax },
  });
  t.deepEqual(await client.broadcast(signed), { kind: 'already_known', txid: signed.txid }, 'it has been processed');
  t.is(lamports(peer, OURS.address), SOL - unsigned.amount - unsigned.feeMax);
  t.is(lamports(peer, SHOP), unsigned.amount);
});

test('L28 L30 V36 a send-all empties the account, which is then gone; with the gas tank as payer the whole balance moves', async (t) => {
  const peer = await open(t),
    { client, ledger } = peer;
  const all = sign(await build(peer, { amount: 'all' }));
  t.like(await client.broadcast(all), { kind: 'accepted' });
  ledger.mine();
  t.like(await client.fetchBalance(OURS.address, null), { amount: 0n, accountExists: false });
  ledger.fund(OURS.address, SOL);
  const tankBefore = lamports(peer, TANK.address);
  const swept = await build(peer, { amount: 'all', feePayer: TANK.address });
  t.is(swept.amount, SOL);
  t.like(await client.broadcast(sign(swept, TANK)), { kind: 'accepted' });
  ledger.mine();
  t.like(await client.fetchBalance(OURS.address, null), { amount: 0n, accountExists: false });
  t.is(tankBefore - lamports(peer, TANK.address), swept.feeMax);
});

test("L29 L30 C4-42 tokens: the receiver's account is created at the rent that was said, of the size that the mint asks for", async (t) => {
  const peer = await open(t),
    { client, ledger } = peer;
  for (const [token, program, size] of [
    [USDC, undefined, 165],
    [PYUSD, TOKEN_2022_PROGRAM, 182],
  ] as const) {
    const before = lamports(peer, OURS.address);
    const unsigned = await build(peer, { token, amount: 20_000_000n });
    t.is(unsigned.fee['rentLamports'], ledger.rentExempt(size).toString(), `${token.symbol}: asked of the chain`);
    t.like(await client.broadcast(sign(unsigned)), { kind: 'accepted' });
    ledger.mine();
    t.is(before - lamports(peer, OURS.address), unsigned.feeMax);
    t.is(ledger.accounts.at(accountOf(SHOP, token.contract, program), ledger.tip.slot)?.data.length, size);
    t.is(await tokens(peer, SHOP, token), token === PYUSD ? 19_800_000n : 20_000_000n, 'L9');
    const second = await build(peer, { token, amount: 'all', feePayer: TANK.address });
    t.is(second.fee['rentLamports'], '0', 'it is there now');
    t.true(Number(second.fee['unitLimit']) < Number(unsigned.fee['unitLimit']));
    t.like(await client.broadcast(sign(second, TANK)), { kind: 'accepted' });
    ledger.mine();
    t.is(await tokens(peer, OURS.address, token), 0n);
  }
});

test("7.1 7.6 L29 Token-2022: the account of the program that owns the mint; a token account is nobody's address", async (t) => {
  const peer = await open(t),
    { ledger } = peer;
  t.like(paymentOf(await build(peer, { token: PYUSD, amount: 1n })).asset, {
    program: TOKEN_2022_PROGRAM,
    destination: accountOf(SHOP, PYUSD.contract, TOKEN_2022_PROGRAM),
  });
  const account = keyOf(70).address;
  putHolding(ledger, { account, mint: USDC.contract, owner: SHOP, amount: 0n });
  t.like(await attempt(peer, { to: account }), {
    ok: false,
    code: 'INVALID_ADDRESS',
    details: { reason: 'a token account' },
  });
  t.like(await attempt(peer, { to: account, token: PYUSD, amount: 1n }), { ok: false, code: 'INVALID_ADDRESS' });
  t.like(
    await attempt(peer, { to: account, token: USDC, amount: 7n }),
    { ok: false, code: 'INVALID_ADDRESS', details: { owner: SHOP } },
    'found F27',
  );
  for (const to of [
    USDC.contract,
    'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    'SysvarRent111111111111111111111111111111111',
  ]) {
    t.like(await attempt(peer, { to, amount: SOL / 2n }), { ok: false, code: 'INVALID_ADDRESS' }, to);
  }
  putHolding(ledger, { account: accountOf(SHOP), mint: USDC.contract, owner: keyOf(9).address, amount: 0n });
  says(t, await attempt(peer, { token: USDC, amount: 7n }), { ok: false, code: 'CHAIN_REJECTED' }, /another owner/);
});

test('7.1 a payment to an account that is owned by a program is allowed; out of one it is not', async (t) => {
  const peer = await open(t),
    { client, ledger } = peer,
    vault = keyOf(71).address;
  ledger.setAccount(vault, { lamports: SOL, owner: keyOf(72).address, data: new Uint8Array(10), executable: false });
  t.like(await client.broadcast(sign(await build(peer, { to: vault }))), { kind: 'accepted' });
  const nonceAccount = {
    lamports: SOL,
    owner: SystemProgram.programId.toBase58(),
    data: new Uint8Array(80),
    executable: false,
  };
  ledger.setAccount(OURS.address, nonceAccount);
  t.like(await attempt(peer), { ok: false, code: 'CHAIN_REJECTED' });
});

const REFUSALS: readonly (readonly [
  what: string,
  break_: (peer: SolPeer) => void,
  more: Partial<Intent>,
  code: string,
  reason: RegExp,
])[] = [
  [
    'the balance was spent meanwhile',
    ({ ledger }) => {
      ledger.fund(OURS.address, -(SOL - 50_000_000n));
    },
    {},
    'INSUFFICIENT_FUNDS',
    /insufficient lamports/,
  ],
  [
    'the account is gone',
    ({ ledger }) => {
      ledger.setAccount(OURS.address, null);
    },
    {},
    'INSUFFICIENT_GAS',
    /AccountNotFound/,
  ],
  [
    'not even the fee is left',
    ({ ledger }) => {
      ledger.fund(OURS.address, -(SOL - 4_000n));
    },
    {},
    'INSUFFICIENT_GAS',
    /InsufficientFundsForFee/,
  ],
  [
    'less than the rent-exempt minimum would stay',
    ({ ledger }) => {
      ledger.fund(OURS.address, -(SOL - 100_010_000n));
    },
    {},
    'INSUFFICIENT_RESERVE',
    /InsufficientFundsForRent/,
  ],
  [
    'the tokens were spent meanwhile',
    ({ ledger }) => {
      putHolding(ledger, { account: accountOf(OURS.address), mint: USDC.contract, owner: OURS.address, amount: 1n });
    },
    { token: USDC, amount: 50n },
    'INSUFFICIENT_FUNDS',
    /Custom.*1/,
  ],
  [
    'the token account was frozen',
    ({ ledger }) => {
      putHolding(ledger, {
        account: accountOf(OURS.address),
        mint: USDC.contract,
        owner: OURS.address,
        amount: 100n,
        frozen: true,
      });
    },
    { token: USDC, amount: 50n },
    'CHAIN_REJECTED',
    /Custom.*17/,
  ],
  [
    'the account for the receiver cannot be paid for',
    ({ ledger }) => {
      ledger.fund(OURS.address, -(SOL - 1_000_000n));
    },
    { token: USDC, amount: 50n },
    'INSUFFICIENT_GAS',
    /insufficient lamports/,
  ],
];

for (const [what, break_, more, code, reason] of REFUSALS) {
  test(`7.2 refused by the real machine: ${what} → ${code}`, async (t) => {
    const peer = await open(t),
      signed = sign(await build(peer, more));
    break_(peer);
    const result = await peer.client.broadcast(signed);
    t.like(result, { kind: 'rejected_final', refusal: { code } });
    if (result.kind === 'rejected_final') t.regex(String(result.refusal.details['reason']), reason);
    peer.ledger.mine();
    t.is(await peer.client.getOutcome(signed.txid), null, 'nothing of it is in a block');
  });
}

test('7.2 a signature that does not verify is final; a hash that the node does not know proves nothing', async (t) => {
  const peer = await open(t),
    unsigned = await build(peer),
    signed = sign(unsigned);
  const message = Buffer.from(unsigned.payload, 'base64'),
    forged = new Uint8Array(64).fill(5);
  const bad: Signed = {
    ...signed,
    payload: Buffer.from(encodeTransaction([forged], message)).toString('base64'),
    txid: base58.encode(forged),
  };
  t.like(await peer.client.broadcast(bad), { kind: 'rejected_final', refusal: { code: 'CHAIN_REJECTED' } });
  await t.throwsAsync(() => peer.client.broadcast({ ...signed, txid: bad.txid }), { message: /txid/ }, 'G28');
  const stranger = encodePayment({ ...paymentOf(unsigned), blockhash: SHOP });
  const old = sign({ ...unsigned, payload: Buffer.from(stranger).toString('base64') });
  says(t, await peer.client.broadcast(old), { kind: 'unknown' }, /BlockhashNotFound/);
});

test('L32 7.6 a fresh hash is taken because the preflight asks at the level that it was read at', async (t) => {
  const peer = await open(t),
    {
      nodes: [node],
      client,
      ledger,
    } = peer;
  ledger.mine(40);
  const signed = sign(await build(peer));
  const options: unknown[] = [];
  node!.lie = (method, params, honest) => {
    if (method === 'sendTransaction') options.push(params[1]);
    return honest();
  };
  t.like(await client.broadcast(signed), { kind: 'accepted' });
  t.deepEqual(options, [{ encoding: 'base64', preflightCommitment: 'confirmed', maxRetries: 0 }]);
  const byDefault = await fetch(node!.url, {
    method: 'POST',
    body: JSON.stringify({ id: 1, method: 'sendTransaction', params: [signed.payload, { encoding: 'base64' }] }),
  });
  t.regex(await byDefault.text(), /Blockhash not found/);
});

test('G26 G28 several nodes: one that is behind or gone refuses nothing for good; one that names another signature is a fault', async (t) => {
  const peer = await open(t, { nodes: 2 }),
    { nodes, endpoints, clientOf, ledger } = peer;
  const signed = sign(await build(peer));
  const { client } = clientOf(endpoints);
  nodes[0]!.lie = (method, _params, honest) => {
    if (method === 'sendTransaction')
      throw new RpcFailure(-32_005, 'Node is behind by 42 slots', { numSlotsBehind: 42 });
    return honest();
  };
  t.like(await client.broadcast(signed), { kind: 'accepted' });
  nodes[1]!.dead = true;
  t.like(await client.broadcast(signed), { kind: 'unknown' });
  nodes[0]!.dead = true;
  t.like(await client.broadcast(signed), { kind: 'unknown' });
  Object.assign(nodes[0]!, { dead: false, lie: () => 'another' });
  await t.throwsAsync(() => client.broadcast(signed), { instanceOf: MalformedReply });
  Object.assign(nodes[0]!, { lie: null });
  nodes[1]!.dead = false;
  ledger.mine();
  nodes[0]!.lie = (method, _params, honest) => {
    if (method === 'sendTransaction')
      throw new RpcFailure(-32_002, 'Transaction simulation failed: x', { err: 'AccountNotFound', logs: [] });
    return honest();
  };
  nodes[1]!.lie = nodes[0]!.lie;
  t.deepEqual(
    await client.broadcast(signed),
    { kind: 'already_known', txid: signed.txid },
    'it landed, whatever they say of it now',
  );
});

test('L31 G27 C6-56 dead only when the last valid height is passed at finality, the hash is refused and no history knows it', async (t) => {
  const peer = await open(t, { finalityDepth: 31 }),
    { client, ledger } = peer;
  const unsigned = await build(peer),
    { txid } = sign(unsigned);
  const lastValid = Number(unsigned.replayKey.value);
  ledger.mine(lastValid - ledger.tip.blockHeight);
  says(t, await client.getFate(unsigned, txid), { kind: 'unknown' }, /valid up to/);
  ledger.mine(31);
  t.is(ledger.finalized(ledger.tip).blockHeight, lastValid);
  t.like(await client.getFate(unsigned, txid), { kind: 'unknown' }, 'passed by nobody yet at finality');
  ledger.mine(1);
  t.like(await client.getFate(unsigned, txid), { kind: 'dead' });
  const early = { ...unsigned, replayKey: { kind: 'expiry', value: '1' } } as const;
  const fresh = await build(peer);
  says(
    t,
    await client.getFate({ ...fresh, replayKey: early.replayKey }, sign(fresh).txid),
    { kind: 'unknown' },
    /still valid/,
  );
});

test('L25 L31 the last block in which it may stand is 150 after that of its hash, and one that lands there is included', async (t) => {
  const peer = await open(t),
    { client, ledger } = peer;
  const unsigned = await build(peer),
    signed = sign(unsigned);
  ledger.mine(Number(unsigned.replayKey.value) - ledger.tip.blockHeight - 1);
  t.like(await client.broadcast(signed), { kind: 'accepted' });
  ledger.mine();
  t.is(ledger.tip.blockHeight, Number(unsigned.replayKey.value));
  t.like(await client.getFate(unsigned, signed.txid), { kind: 'included' });
  const late = await open(t),
    second = await build(late),
    lateSigned = sign(second);
  t.like(await late.client.broadcast(lateSigned), { kind: 'accepted' });
  late.ledger.reorg(1);
  late.ledger.mine(200);
  t.is(await late.client.getOutcome(lateSigned.txid), null, 'its hash is of an abandoned block');
  t.like(await late.client.broadcast(lateSigned), { kind: 'unknown' });
});

test("L31 reliability 4.1-13 one node's word is no proof of death where there are several", async (t) => {
  const peer = await open(t, { nodes: 2 }),
    { nodes, endpoints, clientOf, ledger } = peer;
  const unsigned = await build(peer),
    signed = sign(unsigned);
  ledger.mine(250);
  const fate = () => clientOf(endpoints).client.getFate(unsigned, signed.txid);
  t.like(await fate(), { kind: 'dead' });
  nodes[0]!.dead = true;
  t.like(await fate(), { kind: 'unknown' });
  Object.assign(nodes[0]!, { dead: false, firstSlot: unsigned.readAtHeight + 100 });
  says(t, await fate(), { kind: 'unknown' }, /no history before/);
  nodes[0]!.firstSlot = 0;
  nodes[0]!.lie = (method, params, honest) => {
    if (
      method === 'getSignatureStatuses' &&
      (params[1] as { searchTransactionHistory?: boolean }).searchTransactionHistory === true
    )
      throw new RpcFailure(-32_011, 'Transaction history is not available from this node');
    return honest();
  };
  t.like(await fate(), { kind: 'unknown' });
  nodes[0]!.lie = (method, _params, honest) =>
    method === 'getSignatureStatuses'
      ? {
          context: { slot: 1 },
          value: [{ slot: 5, err: null, status: { Ok: null }, confirmations: 0, confirmationStatus: 'processed' }],
        }
      : honest();
  t.deepEqual(await fate(), { kind: 'pending' }, 'L18: processed is no inclusion and no death');
  for (const node of nodes) node.dead = true;
  await t.throwsAsync(fate, unavailable);
});

test('G27 an included transaction that failed is told as failed; two stories of one node are believed by nobody', async (t) => {
  const peer = await open(t),
    {
      nodes: [node],
      client,
      ledger,
    } = peer;
  const unsigned = await build(peer),
    signed = sign(unsigned);
  t.like(await client.broadcast(signed), { kind: 'accepted' });
  ledger.fund(OURS.address, -(SOL - 50_000_000n));
  ledger.mine();
  t.like(await client.getFate(unsigned, signed.txid), {
    kind: 'included',
    outcome: { success: false, fee: unsigned.feeMax },
  });
  node!.lie = (method, _params, honest) =>
    method === 'getTransaction' ? { ...(honest() as object), meta: { err: null, fee: 1 } } : honest();
  await t.throwsAsync(() => client.getOutcome(signed.txid), { ...unavailable, message: /contradicts itself/ });
  node!.lie = (method, _params, honest) => (method === 'getTransaction' ? null : honest());
  await t.throwsAsync(() => client.getOutcome(signed.txid), unavailable);
});

test('G16 L20 a withdrawal whose block is abandoned is out again, and the same bytes land once more', async (t) => {
  const peer = await open(t),
    { client, ledger } = peer;
  ledger.mine(2);
  const unsigned = await build(peer),
    signed = sign(unsigned);
  ledger.mine();
  await client.broadcast(signed);
  ledger.mine();
  t.like(await client.getFate(unsigned, signed.txid), { kind: 'included' });
  ledger.reorg(1);
  ledger.mine();
  t.like(await client.getFate(unsigned, signed.txid), { kind: 'unknown' });
  t.like(await client.broadcast(signed), { kind: 'accepted' });
  ledger.mine();
  t.like(await client.getFate(unsigned, signed.txid), { kind: 'included' });
  t.is(lamports(peer, SHOP), unsigned.amount, 'once');
});

test('L33 two equal payments under one block hash are two payments', async (t) => {
  const peer = await open(t),
    { client, ledger } = peer;
  const [first, second] = [await build(peer), await build(peer)];
  t.is(paymentOf(first).blockhash, paymentOf(second).blockhash);
  for (const unsigned of [first, second]) t.like(await client.broadcast(sign(unsigned)), { kind: 'accepted' });
  ledger.mine();
  t.is(lamports(peer, SHOP), 2n * first.amount);
});

test('L31 repriced after its death: a fresh hash, and only one of the two is ever paid', async (t) => {
  const peer = await open(t),
    { client, ledger } = peer;
  const first = await build(peer),
    again = async () => reprice(solana, first, await client.fetchBuildInputs(intentOf()));
  t.like(await again(), { ok: false, code: 'CONFLICT' });
  ledger.mine(190);
  const second = await again();
  if (isRefusal(second)) return t.fail(JSON.stringify(second));
  t.like(await client.broadcast(sign(first)), { kind: 'unknown' });
  t.like(await client.broadcast(sign(second)), { kind: 'accepted' });
  ledger.mine();
  t.is(lamports(peer, SHOP), first.amount);
});

test("L27 the price is the 75th percentile of what was paid for our accounts, within its bounds; the base fee is the chain's", async (t) => {
  const peer = await open(t),
    {
      nodes: [node],
      client,
    } = peer;
  const asked: unknown[] = [];
  node!.lie = (method, params, honest) => {
    if (method === 'getRecentPrioritizationFees') asked.push(params[0]);
    return honest();
  };
  const inputs = async (fees: bigint[]): Promise<SolInputs> => {
    node!.prioritizationFees = fees;
    return client.fetchBuildInputs(intentOf());
  };
  t.is((await inputs([])).unitPrice, '0');
  t.is((await inputs([1n, 2n, 3n, 4n])).unitPrice, '4');
  t.is((await inputs(Array.from({ length: 150 }, (_, index) => BigInt(index * 100)))).unitPrice, '11200');
  t.deepEqual(asked[0], [OURS.address, SHOP]);
  t.is((await inputs([])).lamportsPerSignature, '5000');
  node!.lie = (method, _params, honest) =>
    method === 'getFeeForMessage' ? { context: { slot: 1 }, value: null } : honest();
  await t.throwsAsync(() => client.fetchBuildInputs(intentOf()), unavailable);
});

test('G27 L25 an expiry that a node states absurdly is not built upon', async (t) => {
  const {
    nodes: [node],
    client,
    ledger,
  } = await open(t);
  ledger.mine(60);
  for (const lastValidBlockHeight of [5, 10 ** 6]) {
    node!.lie = (method, _params, honest) => {
      const answer = honest() as { value: object };
      return method === 'getLatestBlockhash' ? { ...answer, value: { ...answer.value, lastValidBlockHeight } } : answer;
    };
    await t.throwsAsync(() => client.fetchBuildInputs(intentOf()), { ...unavailable, message: /an expiry of/ });
  }
});

test("7.2 a simulation that fails is the builder's refusal, with the machine's own words; one that proves nothing is no refusal", async (t) => {
  const peer = await open(t),
    {
      nodes: [node],
      client,
    } = peer;
  const failing = (err: unknown, logs: string[]) => {
    node!.lie = (method, _params, honest) =>
      method === 'simulateTransaction'
        ? { context: { slot: 1 }, value: { err, logs, accounts: null, unitsConsumed: 0 } }
        : honest();
  };
  failing({ InstructionError: [3, { Custom: 17 }] }, ['Program log: Error: Account is frozen']);
  t.like(await attempt(peer, { token: USDC, amount: 5n }), {
    ok: false,
    code: 'CHAIN_REJECTED',
    details: { reason: '{"InstructionError":[3,{"Custom":17}]}: Program log: Error: Account is frozen' },
  });
  failing('BlockhashNotFound', []);
  await t.throwsAsync(() => client.fetchBuildInputs(intentOf({ token: USDC, amount: 5n })), unavailable);
  node!.lie = null;
  await t.throwsAsync(
    () => client.fetchBuildInputs(intentOf({ token: { ...USDC, contract: keyOf(88).address }, amount: 5n })),
    { ...unavailable, message: /no mint/ },
  );
  t.like(
    await attempt(peer, { token: { ...USDC, decimals: 9 }, amount: 5n }),
    { ok: false, code: 'CHAIN_REJECTED' },
    'K4',
  );
});

test('L27 L29 an estimate needs no money and no receiver: the gas tank prices a transfer to itself', async (t) => {
  const peer = await open(t),
    { client } = peer,
    empty = keyOf(80).address;
  for (const from of [TANK.address, empty]) {
    const intent = intentOf({ from, to: from, amount: 1n });
    const plain = estimateFee(solana, await client.fetchBuildInputs(intent), intent);
    if (isRefusal(plain)) return t.fail();
    t.true(
      plain.fee >= 5_001n && plain.fee <= 5_004n && plain.fee === plain.feeMax,
      'L33: the salt costs a few lamports at most',
    );
    t.is(plain.parts['rentLamports'], '0');
    const tokenIntent = { ...intent, token: USDC };
    const estimate = estimateFee(solana, await client.fetchBuildInputs(tokenIntent), tokenIntent);
    if (isRefusal(estimate)) return t.fail();
    t.is(estimate.parts['rentLamports'], peer.ledger.rentExempt(165).toString(), 'it has no account of this token yet');
    t.like(buildUnsigned(solana, await client.fetchBuildInputs(intent), intent, null), {
      ok: false,
      code: 'INVALID_ADDRESS',
    });
  }
});
