/**
 * payments V9: no event of a payment leaves that names an address which this edge does not derive, whatever the cloud
 * says; with a node of the company's, none that this node does not know.
 */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import test from 'ava';
import { addressOfHex } from '../../../chains/evm/address.ts';
import { eth } from '../../../chains/evm/network.ts';
import { openIssuedAddresses, type IssuedAddresses } from '../../../edge/answers/issued-addresses.ts';
import { ConfigurationError } from '../../../edge/config.ts';
import { seedOf } from '../../../edge/keystore/keys.ts';
import { createPhraseKeystore } from '../../../edge/keystore/phrase-keystore.ts';
import { openFormerIdentities } from '../../../edge/signing/former-identities.ts';
import { OwnAddresses } from '../../../edge/signing/own-addresses.ts';
import { createOwnNodes } from '../../../edge/signing/own-nodes.ts';
import { openStorage, type Storage } from '../../../edge/storage/storage.ts';
import { createDepositCheck, takenKeysIn, type DepositCheck } from '../../../edge/webhooks/deposit-check.ts';
import { fingerprintOf } from '../../../actors/edge-link/retired-identities.ts';
import { eventId, newId } from '../../../protocol/node/ids.ts';
import { exampleOf } from '../../../protocol/schema/events.ts';
import type { EventName } from '../../../protocol/slugs.ts';
import { startAnvil } from '../../support/anvil.ts';
import { newDirectory, newStorage } from '../../support/edge/disk.ts';
import { eventually, FIRST, PHRASE, SECOND, startTestEdge } from '../../support/edge/edges.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { startReceiver } from '../../support/edge/receivers.ts';
import { registryIn } from '../../support/edge/registry.ts';

const TOKENS = registryIn().catalogueOf;
const own = new OwnAddresses(createPhraseKeystore(seedOf(PHRASE, '')));
const BTC_FIRST = own.addressAt('btc', "m/84'/0'/0'/0/0")!,
  TRON_FIRST = own.addressAt('tron', "m/44'/195'/0'/0/0")!;
const EVENTS = [
  'payment_detected',
  'payment_confirmed',
  'payment_underpaid',
  'payment_late',
  'payment_reversed',
  'payment_unmatched',
] as const satisfies readonly EventName[];
const COIN = 10n ** 18n;

/** As an honest cloud tells it of the first address; `data` and `more` are the lies, and the id is of what is said. */
function told(event: EventName, data: Record<string, unknown> = {}, more: Record<string, unknown> = {}): string {
  const example = exampleOf(event);
  const said = {
    ...example.data,
    chain: 'eth',
    asset: 'ETH',
    tokenContract: null,
    decimals: 18,
    amount: String(COIN),
    amountFormatted: '1',
    outputIndex: -1,
    address: FIRST,
    derivationPath: "m/44'/60'/0'/0/0",
    ...data,
  };
  const { chain, txid, outputIndex, incarnation } = said as unknown as {
    chain: string;
    txid: string;
    outputIndex: number;
    incarnation: number;
  };
  return JSON.stringify({ ...example, id: eventId(chain, txid, outputIndex, incarnation, event), data: said, ...more });
}

const heldByAlice: IssuedAddresses['holderOf'] = async (_chain, address) =>
  address === SECOND ? { userRef: 'alice', tag: null } : null;

const checkOf = (isLentAt: OwnAddresses['isLentAt'], holderOf = heldByAlice): DepositCheck =>
  createDepositCheck({
    catalogueOf: TOKENS,
    nodes: null,
    environment: 'live',
    keys: takenKeysIn(newStorage()),
    monotonicMs: () => 0,
    holderOf,
    isLentAt,
  });

/** What an edge that starts with this phrase knows of the ones before. */
function openFormer(
  storage: Storage,
  keystore: Parameters<typeof openFormerIdentities>[1],
): Exclude<ReturnType<typeof openFormerIdentities>, string> {
  const former = openFormerIdentities(storage, keystore);
  if (typeof former === 'string') throw new Error(former);
  return former;
}

test('payments V9 T1: an event of a payment whose address, family, path, amount or id is not what it must be does not leave, without any node', async (t) => {
  const check = checkOf((...where) => own.isLentAt(...where));
  const foreign = addressOfHex('b0b'.padStart(40, '0'));
  for (const event of EVENTS) {
    t.is(await check.doubt(told(event)), null, event);
    t.is(await check.doubt(told(event, { somethingNewer: 1, createdVia: 'component' })), null, 'a newer cloud');
    for (const [lie, doubt] of [
      [{ address: foreign }, 'other_address'],
      [{ address: FIRST.toLowerCase() }, 'other_address'],
      [{ address: '' }, 'other_address'],
      [{ derivationPath: "m/44'/60'/0'/0/1" }, 'other_address'],
      [{ derivationPath: '' }, 'other_address'],
      // The company's own, and no payer's: what is on the way to its gas tank pays no order.
      [{ address: own.addressAt('eth', "m/44'/60'/0'/1/0"), derivationPath: "m/44'/60'/0'/1/0" }, 'other_address'],
      [{ derivationPath: "[0011223344556677/44'/60'/0'/0/0]" }, 'other_address'],
      [{ derivationPath: '[]' }, 'other_address'],
      [{ chain: 'tron' }, 'other_address'],
      [{ chain: 'btc', address: FIRST, derivationPath: "m/84'/0'/0'/0/0" }, 'other_address'],
      [{ chain: 'btc', address: TRON_FIRST, derivationPath: "m/44'/195'/0'/0/0" }, 'other_address'],
      [{ address: SECOND, derivationPath: "m/44'/60'/0'/0/1" }, 'other_holder'],
      [{ amount: String(COIN * 1_000n) }, 'other_amount'],
      [{ amountFormatted: '1000' }, 'other_amount'],
      [{ decimals: 6 }, 'other_amount'],
      [{ amount: '-1', amountFormatted: '-1' }, 'other_amount'],
      [{ address: null }, 'malformed_event'],
      [{ derivationPath: undefined }, 'malformed_event'],
      [{ Address: foreign }, 'malformed_event'],
      [{ AmountConfirmed: '9' }, 'malformed_event'],
    ] as const)
      t.is(await check.doubt(told(event, lie)), doubt, `${event} ${JSON.stringify(lie)}`);
    t.is(await check.doubt(told(event, {}, { id: `evt_${'a'.repeat(26)}` })), 'other_event_id');
    t.is(await check.doubt(told(event, {}, { environment: 'sandbox' })), 'other_environment');
  }
  t.is(
    await check.doubt(
      told('payment_confirmed', {
        chain: 'btc',
        asset: 'BTC',
        decimals: 8,
        amount: '100000000',
        address: BTC_FIRST,
        derivationPath: "m/84'/0'/0'/0/0",
      }),
    ),
    null,
  );
  t.is(
    await check.doubt(told('payment_confirmed', { chain: 'polygon', asset: 'POL' })),
    null,
    'one address on five networks',
  );
  t.is(await check.doubt(JSON.stringify(exampleOf('payment_link_created'))), null, 'it names no address');
});

test('payments V9 S17: of a phrase that this edge ran with before the address is derived by its public keys; of one that it never saw nothing leaves', async (t) => {
  const storage = newStorage();
  const former = createPhraseKeystore(seedOf(PHRASE, '')),
    present = createPhraseKeystore(seedOf(generateMnemonic(wordlist), ''));
  const before = new OwnAddresses(former, openFormer(storage, former));
  t.true(before.isLentAt('eth', "m/44'/60'/0'/0/0", FIRST));
  openFormer(storage, former); // a restart
  const after = new OwnAddresses(present, openFormer(storage, present)),
    elsewhere = new OwnAddresses(present, openFormer(newStorage(), present));
  const origin = `[${fingerprintOf(former.identity.publicKey)}/44'/60'/0'/0/0]`;
  const check = checkOf((...where) => after.isLentAt(...where)),
    without = checkOf((...where) => elsewhere.isLentAt(...where));
  for (const derivationPath of [origin, "m/44'/60'/0'/0/0"]) {
    const body = told('payment_confirmed', { derivationPath });
    t.is(await check.doubt(body), null, 'told after the rotation, and published before it');
    t.is(await without.doubt(body), 'other_address', derivationPath);
  }
  for (const lie of [
    { derivationPath: origin, address: addressOfHex('b0b'.padStart(40, '0')) },
    { derivationPath: origin.replace('/0]', '/1]') },
    { derivationPath: origin.replace('/0/0]', '/1/0]') },
    { derivationPath: origin.replace(/[0-9a-f]{16}/, '0011223344556677') },
    { derivationPath: origin.replace("/44'", '/44') },
    { derivationPath: `${origin}/0` },
  ])
    t.is(await check.doubt(told('payment_confirmed', lie)), 'other_address', JSON.stringify(lie));
  const own = present.accountXpub('evm')!;
  t.true(storage.sealedSetting('identity_keys')!.includes(own));
  t.false(storage.sealedSetting('identity_keys')!.includes('xprv'));
  t.regex(storage.setting('identity_keys')!, /^sealed:[A-Za-z0-9+/=]+$/, 'nothing of it in plain');
});

test("payments V9 P25: what was issued to a customer under a phrase of before is no payer's after the rotation either", async (t) => {
  const storage = newStorage(),
    directory = newDirectory();
  const former = createPhraseKeystore(seedOf(PHRASE, '')),
    present = createPhraseKeystore(seedOf(generateMnemonic(wordlist), ''));
  const bookOf = ({ identity }: typeof former, environment = 'live') =>
    openIssuedAddresses({ directory, owner: `${environment} ${identity.publicKey}`, gap: 10 });
  const path = "m/44'/60'/0'/0/1";
  const before = new OwnAddresses(former, openFormer(storage, former)),
    book = bookOf(former),
    sandbox = bookOf(present, 'sandbox');
  const issue = { chain: 'eth', position: 1, address: SECOND, addressId: newId('adr', 1), tag: null } as const;
  t.is(await book.record({ ...issue, userRef: 'alice' }), null);
  t.is(await sandbox.record({ ...issue, address: FIRST, userRef: 'mallory' }), null);
  const lie = (derivationPath: string) => told('payment_confirmed', { address: SECOND, derivationPath });
  const checkBefore = checkOf((...where) => before.isLentAt(...where), book.holderOf);
  t.is(await checkBefore.doubt(lie(path)), 'other_holder');
  const after = new OwnAddresses(present, openFormer(storage, present)),
    rotated = bookOf(present);
  const check = checkOf((...where) => after.isLentAt(...where), rotated.holderOf);
  const origin = `[${fingerprintOf(former.identity.publicKey)}${path.slice(1)}]`;
  for (const derivationPath of [path, origin])
    t.is(await check.doubt(lie(derivationPath)), 'other_holder', derivationPath);
  t.is(await check.doubt(told('payment_confirmed')), null, "sandbox's customers are others");
  for (const opened of [book, sandbox, rotated]) await opened.close();
});

test('payments V9 S17: of a phrase that came back what the cloud writes by its fingerprint leaves', async (t) => {
  const storage = newStorage();
  const first = createPhraseKeystore(seedOf(PHRASE, '')),
    second = createPhraseKeystore(seedOf(generateMnemonic(wordlist), ''));
  openFormer(storage, first);
  openFormer(storage, second);
  const back = new OwnAddresses(first, openFormer(storage, first));
  const origin = `[${fingerprintOf(first.identity.publicKey)}/44'/60'/0'/0/0]`;
  const check = checkOf((...where) => back.isLentAt(...where));
  for (const derivationPath of [origin, "m/44'/60'/0'/0/0"])
    t.is(await check.doubt(told('payment_confirmed', { derivationPath })), null, derivationPath);
  for (const lie of [{ derivationPath: origin.replace('/0]', '/1]') }, { derivationPath: origin, address: SECOND }])
    t.is(await check.doubt(told('payment_confirmed', lie)), 'other_address');
  const other = await check.doubt(
    told('payment_confirmed', {
      derivationPath: `[${fingerprintOf(second.identity.publicKey)}/44'/60'/0'/0/0]`,
    }),
  );
  t.is(other, 'other_address', 'each fingerprint is of one phrase');
});

test('payments V9: keys of former phrases that cannot be read stop the start; they are not written over', (t) => {
  const keystore = createPhraseKeystore(seedOf(PHRASE, ''));
  for (const damaged of ['', '[', 'null', '{}', '[{"fingerprint":"x"}]', '[{"fingerprint":7,"keys":{}}]']) {
    const storage = newStorage();
    storage.setSetting('identity_keys', damaged);
    const opened = openFormerIdentities(storage, keystore);
    t.regex(typeof opened === 'string' ? opened : 'opened', /former phrases.*backup.*flock-edge identities/s, damaged);
    t.is(storage.setting('identity_keys'), damaged);
  }
});

test('payments V9: what is sealed needs the key beside the database, and is not moved to another setting', (t) => {
  const directory = newDirectory(),
    keystore = createPhraseKeystore(seedOf(PHRASE, ''));
  const storage = openStorage(directory);
  t.not(typeof openFormerIdentities(storage, keystore), 'string');
  const [file] = readdirSync(directory).filter((name) => name.endsWith('.key'));
  t.is(statSync(join(directory, file!)).mode & 0o777, 0o600);
  const kept = storage.setting('identity_keys')!;
  storage.setSetting('elsewhere', kept);
  t.is(storage.sealedSetting('elsewhere'), '');
  const key = readFileSync(join(directory, file!));
  for (const spoilt of [null, key.subarray(1), Buffer.from(key).fill(7)]) {
    rmSync(join(directory, file!), { force: true });
    if (spoilt !== null) writeFileSync(join(directory, file!), spoilt);
    t.regex(String(openFormerIdentities(storage, keystore)), /cannot be read/);
    t.is(storage.setting('identity_keys'), kept, 'nothing is written over');
  }
  writeFileSync(join(directory, file!), key);
  t.not(typeof openFormerIdentities(storage, keystore), 'string');
  storage.close();
});

test('payments V9: an edge whose keys of former phrases cannot be read says which setting and what next', async (t) => {
  const directory = newDirectory(),
    storage = openStorage(directory);
  storage.setSetting('identity_keys', '[');
  storage.close();
  const error = await t.throwsAsync(startTestEdge(t, 'http://127.0.0.1:9', { env: { EDGE_DATA_DIR: directory } }), {
    instanceOf: ConfigurationError,
  });
  t.regex(error.message, /EDGE_DATA_DIR: the public keys of former phrases/);
});

test("payments V9 T2: what completes, falls short or comes late waits for the company's node, and a lie about it does not leave", async (t) => {
  const anvil = await startAnvil(t, eth, { automine: false });
  const payer = addressOfHex('a11ce'.padStart(40, '0'));
  await anvil.fund(payer, 100n * COIN);
  const txid = await anvil.send({ from: payer, to: FIRST, value: COIN });
  await anvil.mine();
  const head = await anvil.rpc<{ number: string; hash: string }>('eth_getBlockByNumber', 'latest', false);
  const paid = { txid, height: Number(head.number), blockHash: head.hash };
  let seconds = 0;
  const check = createDepositCheck({
    catalogueOf: TOKENS,
    environment: 'live',
    nodes: createOwnNodes({
      catalogueOf: TOKENS,
      nodes: new Map([['eth', [anvil.url]]]),
      monotonicMs: () => seconds * 1_000,
    }),
    keys: takenKeysIn(newStorage()),
    monotonicMs: () => (seconds += 1) * 1_000,
    isLentAt: (...where) => own.isLentAt(...where),
  });
  t.teardown(() => check.close());
  for (const event of ['payment_confirmed', 'payment_underpaid', 'payment_late'] as const)
    t.is(await check.doubt(told(event, paid)), 'not_deep_enough', event);
  t.is(await check.doubt(told('payment_detected', paid)), null, 'nobody fulfils for it');
  await anvil.mine(11);
  for (const event of ['payment_confirmed', 'payment_underpaid', 'payment_late'] as const) {
    t.is(await check.doubt(told(event, paid)), null, event);
    for (const [lie, doubt] of [
      [{ amount: String(25n * COIN), amountFormatted: '25' }, 'no_such_movement'],
      [{ asset: 'USDC' }, 'other_amount'],
      [{ tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48' }, 'other_amount'],
      [{ txid: `0x${'12'.repeat(32)}` }, 'no_such_movement'],
    ] as const)
      t.is(await check.doubt(told(event, { ...paid, ...lie })), doubt, `${event} ${JSON.stringify(lie)}`);
    t.is(await check.doubt(told(event, { ...paid, blockHash: `0x${'ab'.repeat(32)}` })), 'other_block');
  }
});

test('payments V9: a cloud that swaps address, amount or family gets nothing relayed and each is an alarm; the honest event leaves', async (t) => {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const receiver = await startReceiver(t);
  const edge = await startTestEdge(t, cloud.url, {
    env: { EDGE_CHAINS: 'eth,btc', EDGE_WEBHOOK_ALLOWLIST: new URL(receiver.url).host },
  });
  await eventually('the edge is welcomed', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  const lies = EVENTS.flatMap((event) => [
    told(event, { address: addressOfHex('b0b'.padStart(40, '0')) }),
    told(event, { amount: String(COIN * 1_000n) }),
    told(event, { chain: 'btc' }),
  ]);
  const deliveries = [...lies, told('payment_confirmed')].map((body, at) => ({
    deliveryId: `dlv_${at}`,
    attempt: 1,
    url: receiver.url,
    headers: {},
    body,
    timeoutMs: 15_000,
  }));
  await cloud.deliver(deliveries);
  await eventually('each is recorded', () => cloud.attempts.length === deliveries.length);
  t.deepEqual(
    receiver.hits.map(({ body }) => body),
    [told('payment_confirmed')],
  );
  t.is(cloud.attempts.filter(({ outcome }) => outcome === 'unverified').length, lies.length);
  const alarms = edge.logged.filter(({ msg }) => msg === 'payment_unverified');
  t.is(alarms.length, lies.length);
  t.true(alarms.every(({ alarm }) => alarm === true));
  const notOurs = alarms.filter(({ reason }) => reason === 'other_address');
  t.true(
    notOurs.every(
      ({ next }) => /flock-edge identities add/.test(String(next)) && !/start .* phrase/.test(String(next)),
    ),
  );
  t.deepEqual(Map.groupBy(alarms, ({ reason }) => reason).get('other_address')?.length, 2 * EVENTS.length);
});
