/** Signed transactions, read by our own code and, for the stand-in, by the SDK. */
import test from 'ava';
import fc from 'fast-check';
import { decodeSigned } from '../../../chains/xrp/signed.ts';
import { txidOf } from '../../../chains/xrp/hashes.ts';
import { issuedText } from '../../../chains/xrp/issued-amount.ts';
import { truncatedDecimal } from '../../../chains/decimal.ts';
import { unitsOf, valueOf } from '../../../developer/stand-ins/xrp/issued.ts';
import { walletOf } from '../../../developer/stand-ins/xrp/signers.ts';
import { readBlob } from '../../../developer/stand-ins/xrp/transactions.ts';

const ANN = walletOf('ann'),
  BOB = walletOf('bob').classicAddress;

test('property: a blob that our reader takes, the SDK takes too, under the same hash; it takes none that is not signed', (t) => {
  const { tx_blob: blob } = ANN.sign({
    TransactionType: 'Payment',
    Account: ANN.classicAddress,
    Destination: BOB,
    Amount: '5',
    Fee: '10',
    Sequence: 7,
    LastLedgerSequence: 30,
    Flags: 0x8000_0000,
  } as never);
  t.is(readBlob(blob).txid, txidOf(blob));
  t.true(decodeSigned(blob).ok);
  fc.assert(
    fc.property(fc.nat(blob.length - 1), fc.constantFrom(...'0123456789ABCDEF'), (at, digit) => {
      const changed = blob.slice(0, at) + digit + blob.slice(at + 1),
        isOurs = decodeSigned(changed).ok;
      t.is(isOurs, changed === blob);
      if (isOurs) t.is(readBlob(changed).txid, txidOf(changed));
      else t.throws(() => readBlob(changed));
    }),
    { numRuns: 100 },
  );
});

test('property: an issued amount is the same to the stand-in and to us, plain and scientific', (t) => {
  const text = fc
    .tuple(fc.constantFrom('', '-'), fc.bigInt(0n, 10n ** 16n - 1n), fc.integer({ min: -30, max: 10 }))
    .map(([sign, digits, power]) => `${sign}${digits}${power === 0 ? '' : `e${power}`}`);
  fc.assert(
    fc.property(text, (amount) => {
      t.is(unitsOf(amount), truncatedDecimal(amount, 15)!);
    }),
    { numRuns: 200 },
  );
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 16n - 1n), (units) => {
      t.is(unitsOf(issuedText(units)), unitsOf(valueOf(units)));
    }),
    { numRuns: 100 },
  );
  for (const none of ['', '1,5', '0x1', '1e81', '1e-97', 5, null])
    t.throws(() => unitsOf(none), { instanceOf: RangeError });
});
