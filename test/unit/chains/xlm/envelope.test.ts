/** Bytes of ours against the network's own library: what one writes, the other reads, and both name it alike. */
import test from 'ava';
import fc from 'fast-check';
import {
  Account,
  Asset,
  Claimant,
  FeeBumpTransaction,
  Keypair,
  Memo,
  MuxedAccount,
  Operation,
  TransactionBuilder,
} from '@stellar/stellar-sdk/base';
import { AlphaNum12, AlphaNum4, Asset as XdrAsset, TransactionEnvelope } from '@stellar/stellar-sdk/xdr';
import {
  decodePayload,
  encodePayload,
  hashesOf,
  innerHashOf,
  networkIdOf,
  outerHashOf,
  type OwnTransaction,
  type Payload,
} from '../../../../chains/xlm/envelope.ts';
import { stellar } from '../../../../chains/xlm/network.ts';
import { accountKey, assetOf, assetText } from '../../../../chains/xlm/xdr.ts';
import { person, unitsOf } from '../../../../developer/stand-ins/xlm/people.ts';

const [US, SHOP, ISSUER, TANK] = [1, 2, 3, 4].map((number) => person(number)) as [Keypair, Keypair, Keypair, Keypair];
const ASSETS = [null, `USDC:${ISSUER.publicKey()}`, `LONGERCODE12:${ISSUER.publicKey()}`];
const int64 = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n });
const memoId = fc.option(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String), { nil: null });
const assets = fc.constantFrom(...ASSETS),
  issued = fc.constantFrom(...(ASSETS.slice(1) as string[]));

const transaction: fc.Arbitrary<OwnTransaction> = fc.record({
  source: fc.constant(US.publicKey()),
  feeStroops: fc.nat(2 ** 32 - 1),
  sequence: int64,
  maxTime: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
  memoId,
  operation: fc.oneof(
    fc.record({
      kind: fc.constant('payment' as const),
      to: fc.record({ address: fc.constant(SHOP.publicKey()), id: memoId }),
      asset: assets,
      amount: int64,
    }),
    fc.record({
      kind: fc.constant('create_account' as const),
      to: fc.constant(SHOP.publicKey()),
      startingBalance: int64,
    }),
    fc.record({ kind: fc.constant('change_trust' as const), asset: issued, limit: int64 }),
  ),
});
const payload: fc.Arbitrary<Payload> = fc.record({
  transaction,
  bump: fc.option(fc.record({ feeSource: fc.constant(TANK.publicKey()), feeStroops: int64 }), { nil: null }),
});

const sdkAsset = (text: string | null): Asset => {
  if (text === null) return Asset.native();
  const [code, issuer] = text.split(':');
  return new Asset(code!, issuer);
};

/** The same transaction, built by the network's library. */
function bySdk({ source, feeStroops, sequence, maxTime, memoId: id, operation }: OwnTransaction) {
  const builder = new TransactionBuilder(new Account(source, (sequence - 1n).toString()), {
    fee: String(feeStroops),
    networkPassphrase: stellar.identity,
    memo: id === null ? Memo.none() : Memo.id(id),
    timebounds: { minTime: '0', maxTime: maxTime.toString() },
  });
  if (operation.kind === 'payment') {
    const { to, asset, amount } = operation;
    const destination = to.id === null ? to.address : new MuxedAccount(new Account(to.address, '0'), to.id).accountId();
    builder.addOperation(Operation.payment({ destination, asset: sdkAsset(asset), amount: unitsOf(amount) }));
  } else if (operation.kind === 'create_account')
    builder.addOperation(
      Operation.createAccount({ destination: operation.to, startingBalance: unitsOf(operation.startingBalance) }),
    );
  else
    builder.addOperation(Operation.changeTrust({ asset: sdkAsset(operation.asset), limit: unitsOf(operation.limit) }));
  return builder.build();
}

test("M19 G28 property: our bytes are the library's, and so is what is signed", (t) => {
  fc.assert(
    fc.property(
      transaction.filter(({ maxTime }) => maxTime < 2n ** 53n),
      (own) => {
        const theirs = bySdk(own),
          mine: Payload = { transaction: own, bump: null };
        t.is(encodePayload(mine), theirs.toXdr());
        t.is(innerHashOf(stellar.identity, mine).toString('hex'), Buffer.from(theirs.hash()).toString('hex'));
      },
    ),
    { numRuns: 60 },
  );
});

test('M20 property: what is encoded decodes to the same values, and to the same bytes again', (t) => {
  fc.assert(
    fc.property(payload, (value) => {
      const base64 = encodePayload(value),
        decoded = decodePayload(base64);
      t.true(decoded.ok);
      if (decoded.ok) t.deepEqual(decoded.payload, value);
    }),
    { numRuns: 200 },
  );
});

test('M20 property: no byte of a payload can be changed unseen: it is refused, or it means something else', (t) => {
  fc.assert(
    fc.property(payload, fc.nat(), fc.integer({ min: 1, max: 255 }), (value, place, mask) => {
      const bytes = Buffer.from(encodePayload(value), 'base64');
      bytes[place % bytes.length]! ^= mask;
      const decoded = decodePayload(bytes.toString('base64'));
      if (decoded.ok)
        t.notDeepEqual(
          { ...decoded.payload, signatures: [decoded.signatures.inner.length, decoded.signatures.outer.length] },
          { ...value, signatures: [0, 0] },
        );
      else t.truthy(decoded.reason);
    }),
    { numRuns: 300 },
  );
});

test('M20 G8 no value of any byte of an asset goes unseen, or is an error', (t) => {
  for (const asset of ASSETS.slice(1) as string[]) {
    const value: Payload = {
      transaction: {
        source: US.publicKey(),
        feeStroops: 100,
        sequence: 7n,
        maxTime: 1_700_000_180n,
        memoId: null,
        operation: { kind: 'payment', to: { address: SHOP.publicKey(), id: null }, asset, amount: 5n },
      },
      bump: null,
    };
    const bytes = Buffer.from(encodePayload(value), 'base64'),
      at = bytes.indexOf(asset.split(':')[0]!, 0, 'latin1');
    t.true(at > 0);
    for (let place = at - 4; place < at + 52; place += 1) {
      for (let mask = 1; mask < 256; mask += 1) {
        const changed = Buffer.from(bytes);
        changed[place]! ^= mask;
        const decoded = decodePayload(changed.toString('base64'));
        if (decoded.ok) t.notDeepEqual(decoded.payload, value);
      }
    }
  }
});

test('M20 property: two assets never have one text, and each is read from its own', (t) => {
  const bytesOf = (length: number) =>
    fc.array(fc.oneof(fc.constantFrom(0, 0x3a, 0x55), fc.nat(255)), { minLength: length, maxLength: length });
  const issuer = accountKey(ISSUER.publicKey());
  const short = bytesOf(4).map((code) =>
    XdrAsset.assetTypeCreditAlphanum4(new AlphaNum4({ assetCode: Buffer.from(code), issuer })),
  );
  const long = bytesOf(12).map((code) =>
    XdrAsset.assetTypeCreditAlphanum12(new AlphaNum12({ assetCode: Buffer.from(code), issuer })),
  );
  fc.assert(
    fc.property(fc.oneof(short, long), (asset) => {
      t.deepEqual(Buffer.from(assetOf(assetText(asset)).toXdr()), Buffer.from(asset.toXdr()));
    }),
    { numRuns: 2_000 },
  );
});

test('M15 G3 a fee bump has two names: its own, and that of what it carries', (t) => {
  const inner = bySdk({
    source: US.publicKey(),
    feeStroops: 100,
    sequence: 7n,
    maxTime: 1_700_000_180n,
    memoId: '1',
    operation: { kind: 'payment', to: { address: SHOP.publicKey(), id: null }, asset: null, amount: 5n },
  });
  inner.sign(US);
  const bump = TransactionBuilder.buildFeeBumpTransaction(TANK, '1000', inner, stellar.identity);
  bump.sign(TANK);
  t.true(bump instanceof FeeBumpTransaction);
  const names = hashesOf(stellar.identity, TransactionEnvelope.fromXdr(Buffer.from(bump.toXdr(), 'base64')));
  t.deepEqual(names, {
    txid: Buffer.from(bump.hash()).toString('hex'),
    innerTxid: Buffer.from(inner.hash()).toString('hex'),
  });
  const decoded = decodePayload(bump.toXdr());
  t.true(decoded.ok);
  if (!decoded.ok) return;
  t.is(outerHashOf(stellar.identity, decoded.payload, decoded.signatures.inner).toString('hex'), names.txid);
  t.deepEqual(
    decoded.payload.bump,
    { feeSource: TANK.publicKey(), feeStroops: 2_000n },
    'the library counts the fee for each operation',
  );
  t.deepEqual(hashesOf(stellar.identity, inner.toEnvelope()), { txid: names.innerTxid, innerTxid: null });
});

test('9.1 the network id is that of the public network', (t) => {
  t.is(
    networkIdOf(stellar.identity).toString('hex'),
    '7ac33997544e3175d266bd022439b22cdb16508c01163f26e5cb2a3e1045a979',
  );
});

test('M20 what we do not build has no value, and says why', (t) => {
  const of = (...operations: Parameters<TransactionBuilder['addOperation']>[0][]) => {
    const builder = new TransactionBuilder(new Account(US.publicKey(), '6'), {
      fee: '100',
      networkPassphrase: stellar.identity,
      timebounds: { minTime: '0', maxTime: '9' },
    });
    for (const operation of operations) builder.addOperation(operation);
    return builder.build().toXdr();
  };
  const pay = Operation.payment({ destination: SHOP.publicKey(), asset: Asset.native(), amount: '1' });
  const cases: [string, string][] = [
    ['not_base64', 'AAAA*'],
    ['not_base64', ' AAAA'],
    ['not_an_envelope', 'AAAA'],
    ['not_an_envelope', ''],
    ['operation_count', of(pay, pay)],
    ['operation_type', of(Operation.accountMerge({ destination: SHOP.publicKey() }))],
    ['operation_type', of(Operation.setOptions({ masterWeight: 0 }))],
    [
      'operation_type',
      of(
        Operation.createClaimableBalance({
          asset: Asset.native(),
          amount: '1',
          claimants: [new Claimant(SHOP.publicKey())],
        }),
      ),
    ],
    [
      'operation_source',
      of(
        Operation.payment({
          destination: SHOP.publicKey(),
          asset: Asset.native(),
          amount: '1',
          source: US.publicKey(),
        }),
      ),
    ],
  ];
  for (const [reason, base64] of cases) t.deepEqual(decodePayload(base64), { ok: false, reason });
  const whole = of(pay),
    bytes = Buffer.concat([Buffer.from(whole, 'base64'), Buffer.alloc(4)]);
  t.false(decodePayload(bytes.toString('base64')).ok, 'bytes after the end');
  t.true(decodePayload(whole).ok);
});
