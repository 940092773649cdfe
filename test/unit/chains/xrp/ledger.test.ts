import test from 'ava';
import { hashes } from 'xrpl';
import { ChainUnavailable, MalformedReply } from '../../../../chains/chain.ts';
import { ledgerHashOf, txidOf } from '../../../../chains/xrp/hashes.ts';
import { assertWhole, blockFromAnswers, blockOf, headerOf } from '../../../../chains/xrp/ledger.ts';
import { xrp } from '../../../../chains/xrp/network.ts';
import type { XrpLedger } from '../../../../chains/xrp/transfers.ts';
import { encode } from 'ripple-binary-codec';
import { answer, vectorText } from '../../../support/vectors.ts';
import { parseLossless } from '../../../../protocol/lossless-json.ts';

const recorded = (height: number) => answer(`nodes/xrp/ledger_${height}.json`) as XrpLedger;
type Header = Record<string, unknown>;
const unavailable = (message: RegExp) => ({ instanceOf: ChainUnavailable, message });

for (const [height, hash] of [
  [90150378, '9804C2A3DF946979C3E01756FA24F5993297B2DBB33596E12A0CF4934A67BA31'],
  [94084608, '576A59C1EA928637915556DBF2BF9F6CC7ADAC942EAA6706BA91BB35751140A5'],
] as const) {
  test(`G9 the hash of mainnet ledger ${height} is that of its header`, (t) => {
    const block = blockOf(recorded(height));
    t.like(block, { height, hash, parentHeight: height - 1 });
    t.is(ledgerHashOf(recorded(height)['ledger'] as Header), hash);
    t.is(new Date(block.timeMs!).toISOString().slice(0, 4), height === 90150378 ? '2024' : '2025');
    t.deepEqual(
      blockFromAnswers(xrp, { ledger: parseLossless(vectorText(`nodes/xrp/ledger_${height}.json`)) }).hash,
      hash,
    );
  });
}

test('G9 every field of the header is in the hash; a header that is not whole is malformed', (t) => {
  const result = recorded(94084608),
    header = result['ledger'] as Header;
  for (const [name, value] of Object.entries({
    total_coins: '99986441776131105',
    parent_hash: '0'.repeat(64),
    transaction_hash: '0'.repeat(64),
    account_hash: '0'.repeat(64),
    parent_close_time: 1,
    close_time: 1,
    close_time_resolution: 30,
    close_flags: 1,
    ledger_index: '94084609',
  }))
    t.throws(
      () => headerOf({ ...result, ledger: { ...header, [name]: value } }),
      unavailable(/its hash is not that of its header/),
      name,
    );
  for (const name of Object.keys(header).filter((field) => /hash|coins|time$|flags|resolution|index/.test(field))) {
    t.throws(
      () => headerOf({ ...result, ledger: { ...header, [name]: undefined } }),
      { instanceOf: MalformedReply },
      name,
    );
  }
  t.throws(() => headerOf({ ...result, ledger: { ...header, close_flags: 256 } }), { instanceOf: MalformedReply });
  t.throws(() => headerOf({ ...result, ledger_hash: 'AB'.repeat(32) }), unavailable(/two hashes/));
  for (const validated of [false, undefined, 'true'])
    t.throws(() => headerOf({ ...result, validated }), unavailable(/not validated/));
});

test('G8 G9 a recorded ledger of which transactions were taken is not whole', (t) => {
  for (const height of [90150378, 94084608])
    t.throws(() => assertWhole(blockOf(recorded(height)), null), unavailable(/no transaction with index/));
  const result = recorded(90150378),
    ledger = result['ledger'] as Header;
  t.throws(
    () => assertWhole(blockOf({ ...result, ledger: { ...ledger, transactions: [] } }), null),
    unavailable(/are not there/),
  );
});

interface Made {
  fees: string[];
  results?: string[];
  places?: number[];
  drops?: bigint;
  changes?: unknown[][];
}

/** A ledger of our own with a right hash. */
function made({ fees, results = [], places = fees.map((_, i) => i), drops = 1_000n, changes = [] }: Made) {
  const transactions = fees.map((Fee, i) => ({
    hash: (i + 1).toString(16).padStart(64, '0'),
    tx_json: { TransactionType: 'Payment', Account: 'rP', Fee },
    validated: true,
    meta: {
      TransactionIndex: places[i],
      TransactionResult: results[i] ?? 'tesSUCCESS',
      AffectedNodes: changes[i] ?? [],
    },
  }));
  const header = {
    ledger_index: 5,
    total_coins: drops.toString(),
    parent_hash: 'AA'.repeat(32),
    transaction_hash: (fees.length === 0 ? '00' : 'BB').repeat(32),
    account_hash: 'CC'.repeat(32),
    parent_close_time: 1,
    close_time: 2,
    close_time_resolution: 10,
    close_flags: 0,
  };
  const ledger_hash = hashes.hashLedgerHeader(header as never);
  return blockOf({ validated: true, ledger_hash, ledger_index: 5, ledger: { ...header, ledger_hash, transactions } });
}

test('G9 what a ledger burnt must be what its transactions paid: one that is missing at the end is noticed', (t) => {
  t.notThrows(() => assertWhole(made({ fees: ['10', '12'] }), 1_022n));
  t.notThrows(() => assertWhole(made({ fees: [] }), 1_000n));
  t.notThrows(() => assertWhole(made({ fees: ['0', '10'] }), 1_010n), 'a pseudo-transaction pays nothing');
  t.throws(
    () => assertWhole(made({ fees: ['10'] }), 1_022n),
    unavailable(/22 drops were burnt and its transactions paid 10: some are missing/),
  );
  t.throws(() => assertWhole(made({ fees: [] }), 1_001n), unavailable(/some are missing/));
  t.throws(
    () => assertWhole(made({ fees: ['10', '12'], places: [0, 2] }), 1_022n),
    unavailable(/no transaction with index 1/),
  );
  t.notThrows(
    () => assertWhole(made({ fees: ['10', '12'], places: [1, 0] }), 1_022n),
    'the order of the list says nothing',
  );
  t.notThrows(() => assertWhole(made({ fees: ['10'] }), null), 'the first ledger of all has no parent');
});

test('8.2 a sender that could not pay its fee burnt what it had', (t) => {
  const root = {
    ModifiedNode: {
      LedgerEntryType: 'AccountRoot',
      FinalFields: { Account: 'rP', Balance: '0' },
      PreviousFields: { Balance: '7' },
    },
  };
  t.notThrows(() => assertWhole(made({ fees: ['10'], results: ['tecINSUFF_FEE'], changes: [[root]] }), 1_007n));
  t.throws(() => assertWhole(made({ fees: ['10'], results: ['tecINSUFF_FEE'] }), 1_007n), {
    instanceOf: MalformedReply,
  });
});

test('G3 G28 the txid of recorded signed bytes is the recorded hash', (t) => {
  let checked = 0;
  for (const height of [90150378, 94084608]) {
    for (const { metaData: _meta, hash, DeliverMax: _max, ...json } of (
      recorded(height)['ledger'] as { transactions: Header[] }
    ).transactions) {
      if (json['TransactionType'] === 'UNLModify' || JSON.stringify(json).includes('"-1"')) continue;
      t.is(txidOf(encode(json)), String(hash));
      checked += 1;
    }
  }
  t.true(checked > 15);
});
