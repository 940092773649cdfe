import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { generateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import test from 'ava';
import { fingerprintOf } from '../../../../actors/edge-link/retired-identities.ts';
import { identitiesCommand } from '../../../../edge/cli/identities.ts';
import { accountXpub, seedOf } from '../../../../edge/keystore/keys.ts';
import { createPhraseKeystore } from '../../../../edge/keystore/phrase-keystore.ts';
import { openFormerIdentities } from '../../../../edge/signing/former-identities.ts';
import { OwnAddresses } from '../../../../edge/signing/own-addresses.ts';
import { openStorage } from '../../../../edge/storage/storage.ts';
import { newDirectory } from '../../../support/edge/disk.ts';
import { FIRST, PHRASE } from '../../../support/edge/edges.ts';

const former = createPhraseKeystore(seedOf(PHRASE, '')),
  present = createPhraseKeystore(seedOf(generateMnemonic(wordlist), ''));
const fingerprint = fingerprintOf(former.identity.publicKey),
  presentFingerprint = fingerprintOf(present.identity.publicKey);
const EVM = `evm=${former.accountXpub('evm')!}`;
const ORIGIN = `[${fingerprint}/44'/60'/0'/0/0]`;

/** A command in this process; `secrets` are what a person would type, in order. */
async function run(directory: string, args: readonly string[], secrets: readonly string[] = []) {
  let out = '',
    err = '';
  const waiting = [...secrets];
  const code = await identitiesCommand(
    args,
    { EDGE_DATA_DIR: directory },
    { write: (text) => void (out += text) },
    { write: (text) => void (err += text) },
    () => ({ interactive: false, close: () => undefined, ask: async () => Buffer.from(waiting.shift() ?? '') }),
  );
  const answers = out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { code, out, err, answers };
}

/** A start with the present phrase, and whether it takes a former payment's address for the company's. */
function startIn(directory: string): boolean {
  const storage = openStorage(directory),
    opened = openFormerIdentities(storage, present);
  storage.close();
  if (typeof opened === 'string') throw new Error(opened);
  const own = new OwnAddresses(present, opened);
  return own.isLentAt('eth', ORIGIN, FIRST) && own.isLentAt('eth', "m/44'/60'/0'/0/0", FIRST);
}

function settingIn(directory: string): string | null {
  const storage = openStorage(directory),
    text = storage.sealedSetting('identity_keys');
  storage.close();
  return text;
}

test('payments V9: a former phrase that is typed, or its public keys, are added without a start with it; nothing that signs is kept', async (t) => {
  for (const [args, secrets] of [
    [['add'], [` ${PHRASE.toUpperCase()} `]],
    [['add', '--fingerprint', fingerprint, '--xpub', EVM, '--xpub', `btc=${former.accountXpub('btc')!}`], []],
  ] as const) {
    const directory = newDirectory();
    t.false(startIn(directory), 'never seen');
    const added = await run(directory, args, secrets);
    t.is(added.code, 0, added.err);
    t.regex(added.err, /start it again/);
    t.like(added.answers, [
      { fingerprint, is: 'added' },
      { fingerprint: presentFingerprint, is: 'present' },
    ]);
    t.notRegex(added.out + added.err + settingIn(directory)!, /abandon|ABANDON|xprv/);
    t.true(startIn(directory));
    const again = await run(directory, args, secrets);
    t.deepEqual(again.answers, added.answers, 'the same again is one');
    t.deepEqual((await run(directory, ['list'])).answers, added.answers);
    const forgotten = await run(directory, ['forget', fingerprint]);
    t.like(forgotten.answers, [{ fingerprint: presentFingerprint, is: 'present' }]);
    t.false(startIn(directory), 'forgotten');
  }
  const directory = newDirectory();
  t.is((await run(directory, ['add', '--bip39-passphrase'], [PHRASE, 'more'])).code, 0);
  t.not(
    (await run(directory, ['list'])).answers[0]!['fingerprint'],
    fingerprint,
    'another passphrase, another identity',
  );
});

test('payments V9: what is no key of a former phrase is refused, and nothing is kept of it', async (t) => {
  const directory = newDirectory();
  t.false(startIn(directory));
  const kept = settingIn(directory);
  const withKey = (xpub: string) => ['add', '--fingerprint', fingerprint, '--xpub', xpub];
  for (const [args, secrets, reason] of [
    [['add'], ['abandon abandon'], /^INVALID_INPUT: phrase: /],
    [['add'], [], /^INVALID_INPUT: phrase: /],
    [withKey('evm=xpub1'), [], /^INVALID_INPUT: xpub: of evm the extended public key at m\/44'\/60'\/0'/],
    [withKey(`evm=${accountXpub(seedOf(PHRASE, ''), "m/44'/60'/0'/0")}`), [], /^INVALID_INPUT: xpub: of evm/],
    [withKey(`evm=${accountXpub(seedOf(PHRASE, ''), "m/44'/60'/1'")}`), [], /^INVALID_INPUT: xpub: of evm/],
    [withKey(EVM.replace('evm', 'sol')), [], /^INVALID_INPUT: xpub: FAMILY=XPUB/],
    [[...withKey(EVM), '--xpub', EVM], [], /^INVALID_INPUT: xpub: FAMILY=XPUB, once/],
    [['forget', '0'.repeat(16)], [], /^NOT_FOUND: .*identities list/],
    [['forget', presentFingerprint], [], /^CONFLICT: .*start it with another one first/],
  ] as const) {
    const ran = await run(directory, args, secrets);
    t.is(ran.code, 1, args.join(' '));
    t.regex(ran.err, reason);
    t.is(ran.out, '');
    t.is(settingIn(directory), kept);
  }
  // Another key under the fingerprint of the phrase that the edge was started with changes nothing.
  const swapped = ['add', '--fingerprint', presentFingerprint, '--xpub', EVM];
  t.is((await run(directory, swapped)).code, 0);
  t.is(settingIn(directory), kept);
  for (const args of [
    [],
    ['keep'],
    ['list', 'x'],
    ['list', '--all'],
    ['add', 'x'],
    ['add', '--xpub', EVM],
    ['add', '--fingerprint', fingerprint],
    ['add', '--fingerprint', 'x', '--xpub', EVM],
    ['forget'],
    ['forget', 'x'],
    ['forget', fingerprint, '--all'],
    ['list', '--never'],
  ]) {
    const ran = await run(directory, args);
    t.is(ran.code, 2, args.join(' '));
    t.regex(ran.err, /^usage: flock-edge identities list/);
  }
  const secret = await run(directory, ['add', ...PHRASE.split(' ')]);
  t.is(secret.code, 2);
  t.regex(secret.err, /looks like a phrase/);
  t.notRegex(secret.err, /abandon/);
  t.regex((await run('', ['list'])).err, /EDGE_DATA_DIR/);
  const newer = newDirectory();
  openStorage(newer).close();
  const database = new DatabaseSync(join(newer, 'edge.db'));
  database.exec('pragma user_version = 9999');
  database.close();
  const ran = await run(newer, ['list']);
  t.is(ran.code, 1);
  t.regex(ran.err, /written by a newer edge.*start the release/);
});

test('payments V9: 64 phrases are kept by command at most; a record that cannot be read is given up only when that is asked for', async (t) => {
  const directory = newDirectory();
  for (let at = 1; at <= 64; at += 1) {
    const named = at.toString(16).padStart(16, '0');
    t.is((await run(directory, ['add', '--fingerprint', named, '--xpub', EVM])).code, 0);
  }
  const full = await run(directory, ['add', '--fingerprint', fingerprint, '--xpub', EVM]);
  t.is(full.code, 1);
  t.regex(full.err, /^CONFLICT: 64 phrases are kept: forget one/);
  const storage = openStorage(directory);
  storage.setSetting('identity_keys', '[');
  storage.close();
  for (const args of [['list'], ['add', '--fingerprint', fingerprint, '--xpub', EVM], ['forget', fingerprint]]) {
    const ran = await run(directory, args);
    t.is(ran.code, 1);
    t.regex(ran.err, /^CONFLICT: EDGE_DATA_DIR: the public keys of former phrases .*forget --all/);
    t.is(settingIn(directory), '[');
  }
  t.is((await run(directory, ['forget', '--all'])).code, 0);
  t.is(settingIn(directory), null);
  t.false(startIn(directory));
});
