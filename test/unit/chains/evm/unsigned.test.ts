import test from 'ava';
import fc from 'fast-check';
import { Transaction } from 'ethers/transaction';
import { avax, base, bsc, eth, evmNetworks, polygon } from '../../../../chains/evm/network.ts';
import { decodeUnsigned, encodeUnsigned, type EvmTransaction } from '../../../../chains/evm/envelope.ts';
import { estimateFee, GAS_LIMIT_MAX, type EvmInputs } from '../../../../chains/evm/fee.ts';
import { buildUnsigned, cancel, nextReplayValue, reprice } from '../../../../chains/evm/unsigned.ts';
import { decodeTransfer } from '../../../../chains/evm/abi.ts';
import type { FeeEstimate, Intent, Network, Unsigned } from '../../../../chains/chain.ts';
import { isRefusal } from '../../../../protocol/errors.ts';
import { inputsOf, intentOf, RECIPIENT, SENDER, USDC } from '../../../support/evm-inputs.ts';

const GWEI = 1_000_000_000n,
  COIN = 10n ** 18n;
const nonce = (value: number) => ({ kind: 'nonce', value }) as const;
const build = (inputs: Partial<EvmInputs> = {}, intent: Partial<Intent> = {}, network: Network = eth) =>
  buildUnsigned(network, inputsOf(inputs), intentOf(intent), nonce(7));
const built = (...args: Parameters<typeof build>): Unsigned => {
  const unsigned = build(...args);
  if (isRefusal(unsigned)) throw new Error(JSON.stringify(unsigned));
  return unsigned;
};
const fields = ({ payload }: Unsigned): EvmTransaction => {
  const decoded = decodeUnsigned(payload);
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.transaction;
};

test("V31 5.5 a native payment is an empty-data type 2 envelope with the network's chain id and no access list", (t) => {
  for (const network of evmNetworks) {
    const unsigned = built({ l1FeeUpperBound: network === base ? '5' : null, gasPrice: GWEI.toString() }, {}, network);
    t.like(fields(unsigned), {
      type: 2,
      chainId: network.chainId,
      nonce: 7,
      to: RECIPIENT,
      value: 1_000n,
      data: '0x',
      gasLimit: 21_000n,
    });
    t.deepEqual(Transaction.from(unsigned.payload).accessList, []);
    t.like(unsigned, {
      chain: network.slug,
      from: SENDER,
      to: RECIPIENT,
      amount: 1_000n,
      tokenContract: null,
      sendAll: false,
      replayKey: nonce(7),
      readAtHeight: 100,
    });
  }
});

test('V31 a token payment calls transfer on the contract with value 0 and exactly 68 bytes', (t) => {
  const unsigned = built({ tokenBalance: '5000', gas: { kind: 'estimated', units: '50000' } }, { token: USDC });
  const transaction = fields(unsigned);
  t.like(transaction, { to: USDC.contract, value: 0n, gasLimit: 60_000n });
  t.is(transaction.data.length, 2 + 2 * 68);
  t.deepEqual(decodeTransfer(transaction.data), { to: RECIPIENT, amount: 1_000n });
  t.like(unsigned, { to: RECIPIENT, amount: 1_000n, tokenContract: USDC.contract });
});

test('V32 C6-55 eth: maxFee is twice the next base fee and the median tip, at least 1 wei of it', (t) => {
  t.like(fields(built({ baseFeePerGas: (30n * GWEI).toString(), tipPerGas: '0' })), {
    maxFeePerGas: 60n * GWEI + 1n,
    maxPriorityFeePerGas: 1n,
  });
  t.like(fields(built({}, {}, avax)), { maxFeePerGas: 21n * GWEI, maxPriorityFeePerGas: GWEI });
});

test('V32 C6-54 polygon: a tip below 25 gwei is raised and maxFee rebuilt from it', (t) => {
  t.like(fields(built({ tipPerGas: ((3n * GWEI) / 2n).toString() }, {}, polygon)), {
    maxFeePerGas: 45n * GWEI,
    maxPriorityFeePerGas: 25n * GWEI,
  });
});

test("V33 bsc: the price is the node's own, never a multiple of a base fee of 0; an endpoint without types gets EIP-155", (t) => {
  t.like(fields(built({ baseFeePerGas: '0', gasPrice: (GWEI / 10n).toString() }, {}, bsc)), {
    maxFeePerGas: GWEI / 10n,
    maxPriorityFeePerGas: GWEI / 10n,
  });
  t.like(fields(built({ baseFeePerGas: '0', gasPrice: '0' }, {}, bsc)), { maxFeePerGas: GWEI / 20n });
  const legacy = built({ gasPrice: GWEI.toString(), envelope: 'legacy' }, {}, bsc);
  t.like(fields(legacy), { type: 0, chainId: 56, maxFeePerGas: GWEI });
  t.is(Transaction.from(legacy.payload).gasPrice, GWEI);
});

test('V34 21,000 gas only to an address without code; an estimate gets a fifth more, rounded up, within the cap', (t) => {
  const gas = (units: bigint) =>
    fields(built({ gas: { kind: 'estimated', units: units.toString() }, baseFeePerGas: '1', tipPerGas: '1' })).gasLimit;
  t.is(gas(21_001n), 25_202n);
  t.is(gas(15_000_000n), GAS_LIMIT_MAX);
  t.like(build({ gas: { kind: 'estimated', units: (GAS_LIMIT_MAX + 1n).toString() } }), { code: 'CHAIN_REJECTED' });
});

test('V35 C4-40 base: the L1 part is reserved half again and counts towards what the balance must cover', (t) => {
  const l1 = 875_004_002n,
    need = 1_000n + 21_000n * 21n * GWEI + (l1 * 3n + 1n) / 2n;
  const with1 = (balance: bigint) =>
    build({ l1FeeUpperBound: l1.toString(), nativeBalance: balance.toString() }, {}, base);
  t.false(isRefusal(with1(need)));
  t.like(with1(need - 1n), { code: 'INSUFFICIENT_GAS', details: { required: need.toString() } });
});

test('V36 C4-40 property: a send-all and its highest fee are the balance, whatever the fees', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.bigInt(10n ** 15n, COIN),
        fc.bigInt(0n, 100n * GWEI),
        fc.bigInt(0n, 5n * GWEI),
        fc.bigInt(0n, 10n ** 13n),
        fc.constantFrom(...evmNetworks),
        (balance, baseFee, tip, l1, network) => {
          const inputs = {
            nativeBalance: balance.toString(),
            baseFeePerGas: baseFee.toString(),
            tipPerGas: tip.toString(),
            gasPrice: tip.toString(),
            l1FeeUpperBound: network.l1FeeOracle === null ? null : l1.toString(),
          };
          const unsigned = build(inputs, { amount: 'all' }, network);
          if (isRefusal(unsigned))
            return void t.true(['INSUFFICIENT_GAS', 'AMOUNT_CAP_EXCEEDED'].includes(unsigned.code));
          const { value, gasLimit, maxFeePerGas } = fields(unsigned);
          t.is(value + unsigned.feeMax, balance);
          t.true(unsigned.sendAll);
          t.is(unsigned.feeMax, gasLimit * maxFeePerGas + (network.l1FeeOracle === null ? 0n : (l1 * 3n + 1n) / 2n));
        },
      ),
    ),
  );
});

test('V36 a token send-all is the token balance; an empty balance is INSUFFICIENT_FUNDS', (t) => {
  const gas = { kind: 'estimated', units: '50000' } as const;
  t.is(built({ tokenBalance: '123', gas }, { token: USDC, amount: 'all' }).amount, 123n);
  t.like(build({ tokenBalance: '0', gas }, { token: USDC, amount: 'all' }), { code: 'INSUFFICIENT_FUNDS' });
  t.like(build({ nativeBalance: '0' }, { amount: 'all' }), { code: 'INSUFFICIENT_FUNDS' });
  t.like(build({ nativeBalance: '1000' }, { amount: 'all' }), { code: 'INSUFFICIENT_GAS' });
});

test('V43 a sweep leaves exactly what it was told to: the tip is the cap', (t) => {
  for (const leave of [0n, 12_345n]) {
    const { value, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = fields(built({}, { amount: 'all', leave }));
    t.is(maxPriorityFeePerGas, maxFeePerGas);
    t.is(COIN - value - gasLimit * maxFeePerGas, leave);
  }
});

test("X1 the value alone is INSUFFICIENT_FUNDS, value and fee together INSUFFICIENT_GAS, a token's fee INSUFFICIENT_GAS", (t) => {
  const fee = 21_000n * 21n * GWEI;
  const send = (balance: bigint) => build({ nativeBalance: balance.toString() }, { amount: COIN });
  t.like(send(COIN - 1n), {
    code: 'INSUFFICIENT_FUNDS',
    details: { balance: (COIN - 1n).toString(), required: COIN.toString() },
  });
  t.like(send(COIN), { code: 'INSUFFICIENT_GAS', details: { required: (COIN + fee).toString() } });
  t.like(send(COIN + fee - 1n), { code: 'INSUFFICIENT_GAS' });
  t.false(isRefusal(send(COIN + fee)));
  const gas = { kind: 'estimated', units: '50000' } as const;
  t.like(build({ tokenBalance: '999', gas }, { token: USDC }), { code: 'INSUFFICIENT_FUNDS' });
  t.like(build({ tokenBalance: '1000', nativeBalance: '0', gas }, { token: USDC }), { code: 'INSUFFICIENT_GAS' });
});

test('V18 V44 a transfer that the chain would revert is CHAIN_REJECTED with its reason, funds being there', (t) => {
  const gas = { kind: 'reverted', reason: 'Blacklistable: account is blacklisted' } as const;
  t.like(build({ tokenBalance: '1000', gas }, { token: USDC }), {
    code: 'CHAIN_REJECTED',
    details: { reason: gas.reason },
  });
  t.like(
    build(
      { tokenBalance: '10', gas: { kind: 'reverted', reason: 'ERC20: transfer amount exceeds balance' } },
      { token: USDC },
    ),
    { code: 'INSUFFICIENT_FUNDS' },
  );
});

test("G29 a fee over the network's cap, or over the share that the caller allows, is refused at build", (t) => {
  t.like(build({ baseFeePerGas: (5_000n * GWEI).toString() }), {
    code: 'AMOUNT_CAP_EXCEEDED',
    details: { reason: 'fee cap' },
  });
  const fee = 21_000n * 21n * GWEI;
  t.like(build({}, { amount: fee * 100n - 1n, maxFeeRatioBps: 100 }), {
    code: 'AMOUNT_CAP_EXCEEDED',
    details: { reason: 'fee ratio' },
  });
  t.false(isRefusal(build({}, { amount: fee * 100n, maxFeeRatioBps: 100 })));
});

test('what an EVM payment cannot have is refused: tags, trustlines, a foreign counter, no amount, no address', (t) => {
  t.like(build({}, { tag: '7' }), { code: 'INVALID_INPUT' });
  t.like(build({}, { kind: 'trustline' }), { code: 'INVALID_INPUT' });
  t.like(buildUnsigned(eth, inputsOf(), intentOf(), { kind: 'sequence', value: '7' }), { code: 'INVALID_INPUT' });
  t.like(build({}, { amount: 0n }), { code: 'INVALID_AMOUNT' });
  t.like(build({}, { to: 'rHsMGQEkVNJmpGWs8XUBoTBiAAbwxZN5v3' }), { code: 'INVALID_ADDRESS' });
});

test("V39 without an allocator's choice the chain's own count is the nonce; the pending count never is", (t) => {
  const inputs = inputsOf({ nonceLatest: 3, noncePending: 9 });
  t.is(nextReplayValue(inputs), 3);
  const unsigned = buildUnsigned(eth, inputs, intentOf(), null);
  t.is(isRefusal(unsigned) ? null : fields(unsigned).nonce, 3);
});

test('V37 property: a repriced version keeps all but the fee, and both fee fields rise by a tenth and reach the market', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.bigInt(1n, 50n * GWEI),
        fc.bigInt(0n, 5n * GWEI),
        fc.bigInt(1n, 50n * GWEI),
        fc.bigInt(0n, 5n * GWEI),
        fc.boolean(),
        fc.constantFrom(eth, polygon, bsc),
        (base1, tip1, base2, tip2, isToken, network) => {
          const fees = (baseFee: bigint, tip: bigint): Partial<EvmInputs> => ({
            baseFeePerGas: baseFee.toString(),
            tipPerGas: tip.toString(),
            gasPrice: baseFee.toString(),
            ...(isToken ? { tokenBalance: '1000', gas: { kind: 'estimated', units: '50000' } } : {}),
          });
          const old = built(fees(base1, tip1), { token: isToken ? USDC : null }, network);
          const next = reprice(network, old, inputsOf(fees(base2, tip2)));
          if (isRefusal(next)) return void t.is(next.code, 'AMOUNT_CAP_EXCEEDED');
          const [a, b] = [fields(old), fields(next)],
            market = built(fees(base2, tip2), { token: isToken ? USDC : null }, network);
          t.deepEqual(
            { ...a, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
            { ...b, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
          );
          for (const field of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
            t.true(b[field] * 10n >= a[field] * 11n);
            t.true(b[field] >= fields(market)[field]);
          }
          t.true(b.maxFeePerGas >= b.maxPriorityFeePerGas);
          t.deepEqual(next.replayKey, old.replayKey);
        },
      ),
    ),
  );
});

test('V36 V37 a repriced send-all goes down by what its fee goes up, and never up', (t) => {
  const old = built({}, { amount: 'all' });
  const next = reprice(eth, old, inputsOf({ nativeBalance: COIN.toString() })) as Unsigned;
  t.is(next.amount + next.feeMax, COIN);
  t.true(next.amount < old.amount);
  t.like(
    reprice(eth, built({ nativeBalance: (21_000n * 21n * GWEI + 1n).toString() }, { amount: 'all' }), inputsOf()),
    { code: 'INSUFFICIENT_GAS' },
  );
});

test('V35 V37 decisions 6 base: where the L1 part falls by more than the gas rises, the amount of a send-all stays', (t) => {
  const dear = { l1FeeUpperBound: (10n ** 15n).toString() },
    cheap = { l1FeeUpperBound: '0' };
  const old = buildUnsigned(
    base,
    inputsOf({ nativeBalance: COIN.toString(), ...dear }),
    intentOf({ chain: 'base', amount: 'all' }),
    null,
  ) as Unsigned;
  const next = reprice(base, old, inputsOf({ nativeBalance: COIN.toString(), ...cheap })) as Unsigned;
  t.true(next.feeMax < old.feeMax);
  t.is(next.amount, old.amount);
});

test('V37 C6-52 a nonce that a block used cannot be repriced or cancelled', (t) => {
  const old = built();
  for (const again of [reprice, cancel]) {
    t.like(again(eth, old, inputsOf({ nonceLatest: 8 })), { code: 'CONFLICT' });
    t.like(again(eth, old, inputsOf({ nativeBalance: '1' })), { ok: false });
    t.like(
      again(eth, old, inputsOf({ baseFeePerGas: (9_000n * GWEI).toString(), nativeBalance: (10n * COIN).toString() })),
      { code: 'AMOUNT_CAP_EXCEEDED' },
    );
  }
});

test('V38 a cancel is nothing to oneself under the same nonce, a tenth dearer, for tokens too', (t) => {
  const old = built({ tokenBalance: '1000', gas: { kind: 'estimated', units: '50000' } }, { token: USDC });
  const next = cancel(eth, old, inputsOf({ gas: { kind: 'reverted', reason: 'paused' } })) as Unsigned;
  t.like(fields(next), {
    to: SENDER,
    value: 0n,
    data: '0x',
    nonce: 7,
    maxFeePerGas: 23_100_000_000n,
    gasLimit: 60_000n,
  });
  t.like(next, { to: SENDER, amount: 0n, tokenContract: null, sendAll: false });
});

test('estimateFee tells the expected and the highest fee, and their parts as text', (t) => {
  const estimate = estimateFee(base, inputsOf({ l1FeeUpperBound: '1000' }), intentOf()) as FeeEstimate;
  t.deepEqual(estimate, {
    fee: 21_000n * 11n * GWEI + 1_000n,
    feeMax: 21_000n * 21n * GWEI + 1_500n,
    parts: { gasLimit: '21000', maxFeePerGas: '21000000000', maxPriorityFeePerGas: '1000000000', l1Reserve: '1500' },
  });
});

test('envelopes: property, what is encoded is decoded, and only the canonical encoding of it', (t) => {
  const transaction = fc
    .record({
      type: fc.constantFrom(0 as const, 2 as const),
      chainId: fc.integer({ min: 1, max: 2 ** 40 }),
      nonce: fc.nat(2 ** 30),
      gasLimit: fc.bigInt(21_000n, GAS_LIMIT_MAX),
      maxFeePerGas: fc.bigInt(0n, COIN),
      maxPriorityFeePerGas: fc.bigInt(0n, COIN),
      to: fc.constantFrom(SENDER, RECIPIENT),
      value: fc.bigInt(0n, 2n ** 200n),
      data: fc.uint8Array({ maxLength: 100 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
    })
    .filter(({ maxFeePerGas, maxPriorityFeePerGas }) => maxPriorityFeePerGas <= maxFeePerGas)
    .map((one) => (one.type === 0 ? { ...one, maxPriorityFeePerGas: one.maxFeePerGas } : one));
  t.notThrows(() =>
    fc.assert(
      fc.property(transaction, fc.nat(), fc.integer({ min: 1, max: 255 }), (one, at, flip) => {
        const payload = encodeUnsigned(one);
        t.deepEqual(decodeUnsigned(payload), { ok: true, transaction: one });
        const bytes = Buffer.from(payload.slice(2), 'hex');
        bytes[at % bytes.length]! ^= flip;
        const other = decodeUnsigned(`0x${bytes.toString('hex')}`);
        t.true(!other.ok || encodeUnsigned(other.transaction) === `0x${bytes.toString('hex')}`);
        t.notDeepEqual(other, { ok: true, transaction: one });
      }),
    ),
  );
});

test('V31 envelopes of other types, creations, access lists and signed ones are named', (t) => {
  const fieldsOf = { chainId: 1, nonce: 0, gasLimit: 21_000n, to: RECIPIENT, value: 1n, data: '0x' };
  const fee = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
  const signature = { r: `0x${'1'.repeat(64)}`, s: `0x${'2'.repeat(64)}`, v: 27 } as const;
  const payloads = {
    type: Transaction.from({ ...fieldsOf, type: 1, gasPrice: 1n, accessList: [] }).unsignedSerialized,
    creation: Transaction.from({ ...fieldsOf, ...fee, type: 2, to: null }).unsignedSerialized,
    access_list: Transaction.from({
      ...fieldsOf,
      ...fee,
      type: 2,
      accessList: [{ address: RECIPIENT, storageKeys: [] }],
    }).unsignedSerialized,
    signed: Transaction.from({ ...fieldsOf, ...fee, type: 2, signature }).serialized,
    unreadable: '0x02f8',
  };
  for (const [reason, payload] of Object.entries(payloads))
    t.deepEqual(decodeUnsigned(payload), { ok: false, reason: reason as 'type' }, reason);
  t.deepEqual(
    decodeUnsigned(Transaction.from({ ...fieldsOf, ...fee, type: 4, authorizationList: [] }).unsignedSerialized),
    { ok: false, reason: 'type' },
  );
  t.false(decodeUnsigned('').ok);
});

test('treasury 5.4: gas that lies there pays for a sweep at a lower price, as long as a block still takes it', (t) => {
  const inputs = inputsOf({ gas: { kind: 'estimated', units: '50000' }, tokenBalance: '5000000' });
  const intent = intentOf({ token: USDC, amount: 1n });
  const built = (withinFee: bigint) => {
    const unsigned = buildUnsigned(eth, inputs, { ...intent, withinFee }, { kind: 'nonce', value: 7 });
    return isRefusal(unsigned) ? t.fail(unsigned.message) : unsigned.feeMax;
  };
  const limit = 60_000n,
    usual = limit * 21_000_000_000n,
    // a base fee of ten, an eighth more, and the tip
    least = limit * 12_250_000_000n;
  t.is(built(usual + 1n), usual);
  t.is(built(usual - limit), usual - limit);
  t.is(built(least), least);
  t.is(built(least - 1n), usual, 'it would not hold');
});
