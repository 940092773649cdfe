import test from 'ava';
import fc from 'fast-check';
import { accountIdOf, chainOfLedger, environmentOf, ID_PREFIXES, isId, ledgerOf } from '../../../protocol/ids.ts';
import { base32, eventId, newId, newUuid, SHARD_COUNT, shardOf, uuidv7Bytes } from '../../../protocol/node/ids.ts';
import { CHAINS, ENVIRONMENTS } from '../../../protocol/slugs.ts';

const instants = fc.integer({ min: 0, max: 2 ** 47 });
const random = fc.uint8Array({ minLength: 10, maxLength: 10 });

test('decisions 1: an id is its prefix and 26 lowercase base32 characters, and nothing else is one', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.constantFrom(...ID_PREFIXES), instants, random, (prefix, nowMs, bytes) => {
        const id = newId(prefix, nowMs, bytes);
        return (
          isId(prefix, id) &&
          /^[a-z]+_[a-z2-7]{26}$/.test(id) &&
          !isId(prefix, `${id}a`) &&
          !isId(prefix, id.toUpperCase()) &&
          !isId(prefix === 'adr' ? 'txn' : 'adr', id)
        );
      }),
    ),
  );
});

test('decisions 1: later ids sort after earlier ones', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        instants,
        fc.integer({ min: 1, max: 1_000_000 }),
        random,
        random,
        (nowMs, laterMs, one, two) =>
          newId('adr', nowMs, one) < newId('adr', nowMs + laterMs, two) &&
          newUuid(nowMs, one) < newUuid(nowMs + laterMs, two),
      ),
    ),
  );
});

test('RFC 9562 §5.7: version 7, variant 2, the instant in the first 48 bits', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(instants, random, (nowMs, bytes) => {
        const uuid = uuidv7Bytes(nowMs, bytes);
        return (
          uuid[6]! >> 4 === 7 &&
          uuid[8]! >> 6 === 2 &&
          Number(new DataView(uuid.buffer).getBigUint64(0) >> 16n) === nowMs
        );
      }),
    ),
  );
});

test('base32 keeps the order of bytes and loses none', (t) => {
  const decode = (text: string) =>
    [...text].reduce((value, letter) => value * 32n + BigInt('234567abcdefghijklmnopqrstuvwxyz'.indexOf(letter)), 0n);
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 16, maxLength: 16 }),
        fc.uint8Array({ minLength: 16, maxLength: 16 }),
        (one, two) => {
          const number = BigInt(`0x${Buffer.from(one).toString('hex')}`);
          return decode(base32(one)) >> 2n === number && Buffer.compare(one, two) < 0 === base32(one) < base32(two);
        },
      ),
    ),
  );
});

test('I12 the id of an event is a function of its fact, and of every part of it', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 5 }), fc.nat(4), (fact, at) => {
        const changed = fact.map((part, index) => (index === at % fact.length ? `${part}x` : part));
        return (
          eventId(...fact) === eventId(...fact) &&
          eventId(...fact) !== eventId(...changed) &&
          /^evt_[a-z2-7]{26}$/.test(eventId(...fact))
        );
      }),
    ),
  );
});

test("decisions 1: an account is organization and environment; a ledger is the chain, or the account's own in sandbox", (t) => {
  for (const environment of ENVIRONMENTS) {
    const accountId = accountIdOf('org_24pgoiqjq2dgpoqhm7nuhjd5zi', environment);
    t.is(environmentOf(accountId), environment);
    for (const chain of CHAINS) {
      const ledger = ledgerOf(chain, accountId);
      t.is(chainOfLedger(ledger), chain);
      t.is(ledger, environment === 'live' ? chain : `${chain}@${accountId}`);
    }
  }
});

test('design 4: accounts spread over all shards, always the same one', (t) => {
  const counts = new Map<number, number>();
  for (let index = 0; index < 20_000; index += 1) {
    const shard = shardOf(`org_${index}_live`);
    counts.set(shard, (counts.get(shard) ?? 0) + 1);
  }
  t.true(counts.size > SHARD_COUNT * 0.99);
  t.true(Math.max(...counts.values()) < 60);
  t.is(shardOf('org_1_live'), shardOf('org_1_live'));
});
