/** Key sources from the operator's command to a signature, with real processes. */
import { readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { newId } from '../../../protocol/node/ids.ts';
import test, { type ExecutionContext } from 'ava';
import { Transaction } from 'ethers';
import { seedOf } from '../../../edge/keystore/keys.ts';
import { KeyFile } from '../../../edge/keystore/key-file.ts';
import { createPhraseKeystore } from '../../../edge/keystore/phrase-keystore.ts';
import { originOf } from '../../../edge/keystore/source-record.ts';
import { parsePhraseSource } from '../../../edge/keystore/source-secret.ts';
import type { BuiltJson } from '../../../protocol/schema/transactions.ts';
import { builtFor, RECEIVER, THIEF, transactionFor } from '../../support/edge/built.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { startEdgeProcess, type EdgeProcess } from '../../support/edge/edge-process.ts';
import { eventually, mintIn, PHRASE } from '../../support/edge/edges.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import {
  addTo,
  filledKeystore,
  newKeystorePath,
  OLD_FIRST,
  OLD_PHRASE,
  PASSPHRASE,
  wrapWith,
} from '../../support/edge/keystores.ts';
import { runSources, typeSources } from '../../support/edge/sources-command.ts';
import { startTestCloud, testEdge } from '../../support/gateway.ts';
import { newToken } from '../../support/softhsm.ts';

/** Standard input, answers, and everything else that could show a secret. */
const holdsSecret = (text: string) =>
  [PASSPHRASE, 'legal winner', 'CANARY', PHRASE, '11'.repeat(32)].some((secret) => text.includes(secret));

// One after the other: each has processes of its own.
test.serial(
  '§4.8 import, detect, register, sign and purge against a real cloud, with the edge running all the while',
  async (t) => {
    const cloud = await startTestCloud();
    t.teardown(() => cloud.stop());
    const { sandbox } = await cloud.organization();
    const path = newKeystorePath(),
      dataDir = newDirectory();
    const env = { EDGE_KEYSTORE_FILE: path, API_KEY: sandbox.apiKey, CLOUD_URL: cloud.url };
    const run = async (args: string[], ...more: string[]) => {
      const ran = await runSources(args, [PASSPHRASE, ...more], env);
      t.false(holdsSecret(`${ran.out}${ran.err}${ran.seen}`), args.join(' '));
      return ran;
    };
    const own = await KeyFile.create(path, wrapWith());
    await addTo(own, parsePhraseSource(PHRASE, ''), { own: true });
    own.close();
    const edge = await startEdgeProcess(t, {
      cloudUrl: cloud.url,
      dataDir,
      localKey: mintIn(dataDir, 'sandbox'),
      env: {
        API_KEY: sandbox.apiKey,
        MNEMONIC: undefined,
        EDGE_KEYSTORE_FILE: path,
        EDGE_KEYSTORE_PASSPHRASE: PASSPHRASE,
      },
    });
    const imported = await run(['import', 'phrase', '--label', 'old wallet'], OLD_PHRASE);
    const fingerprint = imported.answers[0]!['fingerprint'] as string;
    t.like((await run(['detect', fingerprint, '--chain', 'bsc', '--address', OLD_FIRST])).answers[0], {
      path: "m/44'/60'/0'/0/0",
    });
    const registered = await run([
      'register',
      fingerprint,
      '--chains',
      'eth,bsc,btc',
      '--address',
      OLD_FIRST,
      '--path',
      "m/44'/60'/i'/0/0",
      '--from',
      '1',
      '--count',
      '2',
    ]);
    t.like(registered.answers[0], { fingerprint, added: 3, skipped: 0 }, registered.err);
    t.like((await run(['register', fingerprint, '--chains', 'eth', '--address', OLD_FIRST])).answers[0], {
      added: 0,
      skipped: 1,
    });
    t.like((await run(['check', fingerprint])).answers[0], { signs: true, addresses: 3, failed: [] });

    await sandbox.client.must('simulateDeposit', {
      body: { chain: 'eth', address: OLD_FIRST, amount: '1', autoConfirm: true, confirmAfterSeconds: 0 },
    });
    await eventually(
      'the deposit is confirmed',
      async () => (await sandbox.client.must('listTransactions')).content[0]?.status === 'confirmed',
      90_000,
    );
    t.is((await edge.ask('GET', '/v1/addresses')).data?.['totalElements'], 3);
    const build = () =>
      edge.ask('POST', '/v1/transactions/unsigned', { chain: 'eth', from: OLD_FIRST, to: RECEIVER, amount: '1000' });
    const built = await build();
    t.is(built.status, 201, built.text);
    const sent = await edge.ask('POST', `/v1/transactions/${String(built.data!['id'])}/broadcast`);
    t.is(sent.status, 200, sent.text);

    // The address may have one signed transaction on the way at once: a block takes the first.
    let kept = await build();
    await eventually(
      'the next is built',
      async () => kept.status === 201 || (kept = await build()).status === 201,
      90_000,
    );
    const purged = await run(['purge', fingerprint, '--yes']);
    t.like(purged.answers[0], { fingerprint, label: 'old wallet' });
    t.is(purged.code, 0, purged.err);
    // Built before the purge: the running edge lends the key no more.
    t.is(
      (await edge.ask('POST', `/v1/transactions/${String(kept.data!['id'])}/broadcast`)).error?.code,
      'ADDRESS_WATCH_ONLY',
    );
    t.is((await build()).error?.code, 'ADDRESS_WATCH_ONLY');
    t.is((await edge.ask('GET', '/v1/addresses')).data?.['totalElements'], 3);
    const [source] = (await edge.ask('GET', '/v1/migration/key-sources')).data!['content'] as Record<string, unknown>[];
    t.like(source, { fingerprint, status: 'purged', addresses: 3 });
    t.regex((await run(['register', fingerprint, '--chains', 'eth', '--path', "m/44'/60'/0'/0"])).err, /SOURCE_PURGED/);
    t.like((await run(['check', fingerprint])).answers[0], { signs: false, reason: 'purged' });
    t.false(holdsSecret(`${edge.output()}${cloud.lines.join('\n')}`));
  },
);

/** An edge over a hostile cloud whose keystore has one registered source. */
async function hostileStage(t: ExecutionContext) {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const { path, file, phrase } = await filledKeystore();
  await file.note(phrase.fingerprint, { addresses: [{ chain: 'eth', path: "m/44'/60'/0'/0/0", address: OLD_FIRST }] });
  const dataDir = newDirectory();
  const edge = await startEdgeProcess(t, {
    cloudUrl: cloud.url,
    dataDir,
    localKey: mintIn(dataDir, 'live'),
    env: { EDGE_KEYSTORE_FILE: path, EDGE_KEYSTORE_PASSPHRASE: PASSPHRASE, EDGE_CHAINS: 'eth,btc' },
  });
  await eventually('it leads', () => cloud.streams === 1, 90_000);
  return { cloud, edge, file, path, fingerprint: phrase.fingerprint };
}

const told = (from: string, fromPath: string): BuiltJson => {
  const wanted = { from, to: RECEIVER, amount: 1_000n };
  const honest = builtFor(wanted, transactionFor(wanted));
  return { ...honest, unsigned: { ...honest.unsigned, fromPath } };
};
const buildAt = (edge: EdgeProcess, from: string) =>
  edge.ask('POST', '/v1/transactions/unsigned', { chain: 'eth', from, to: RECEIVER, amount: '1000' });

test.serial(
  '§4.8 a hostile cloud gets a source to sign for its registered addresses only, and for none once it is purged',
  async (t) => {
    const { cloud, edge, file, fingerprint } = await hostileStage(t);
    let reply = told(OLD_FIRST, originOf(fingerprint, "m/44'/60'/0'/0/0"));
    cloud.on('POST /v1/transactions/unsigned', () => ({ data: reply, status: 201 }));
    t.is((await buildAt(edge, OLD_FIRST)).status, 201);
    await edge.ask('POST', `/v1/transactions/${reply.id}/broadcast`);
    t.is(Transaction.from(cloud.submitted[0]!.signedPayload).from, OLD_FIRST);

    // An address of the same phrase that nobody registered, a foreign address at a registered path, an unknown source.
    const unregistered = [
      [OLD_FIRST, originOf(fingerprint, "m/44'/60'/0'/0/1"), 'ADDRESS_WATCH_ONLY'],
      [THIEF, originOf(fingerprint, "m/44'/60'/0'/0/0"), 'SIGNED_BATCH_REJECTED'],
      [OLD_FIRST, originOf('0'.repeat(16), "m/44'/60'/0'/0/0"), 'ADDRESS_WATCH_ONLY'],
      [OLD_FIRST, `[${fingerprint}]`, 'ADDRESS_WATCH_ONLY'],
    ] as const;
    for (const [from, fromPath, code] of unregistered) {
      reply = told(from, fromPath);
      const refused = await buildAt(edge, from);
      t.is(refused.error?.code, code, fromPath);
    }
    reply = told(OLD_FIRST, originOf(fingerprint, "m/44'/60'/0'/0/0"));
    await file.purge(fingerprint, Date.now());
    const purged = await buildAt(edge, OLD_FIRST);
    t.like(purged.error, { code: 'ADDRESS_WATCH_ONLY', details: { reason: 'source_purged' } });
    t.is(cloud.submitted.length, 1);
  },
);

test.serial(
  '§4.8 the cloud cannot slip an address in under a source: each is derived from the keystore, purged or not',
  async (t) => {
    const { cloud, edge, file, path, fingerprint } = await hostileStage(t);
    const origin = originOf(fingerprint, "m/44'/60'/0'/0/0");
    const list = async (address: string, derivationPath: string) => {
      const record = {
        id: newId('adr', 1),
        chain: 'eth',
        address,
        derivationPath,
        environment: 'live',
        userRef: null,
        tag: null,
        label: null,
        status: 'active',
        createdAt: '2026-01-01T00:00:00.000Z',
      };
      cloud.on('GET /v1/addresses', () => ({
        data: { content: [record], page: 0, size: 20, totalElements: 1, totalPages: 1, next: null },
      }));
      return (await edge.ask('GET', '/v1/addresses')).status;
    };
    t.is(await list(OLD_FIRST, origin), 200);
    t.is(await list(THIEF, origin), 500);
    t.is(await list(OLD_FIRST, originOf(fingerprint, "m/44'/60'/9'/0/0")), 500, 'a path that the source does not have');
    t.is(
      await list(OLD_FIRST, originOf('0'.repeat(16), null)),
      200,
      'of a key that is not here nothing is said: its path says so',
    );
    t.is(await list(OLD_FIRST, originOf(fingerprint, "m/44'/60'/0'/0/1")), 500);
    await file.purge(fingerprint, Date.now());
    t.is(await list(OLD_FIRST, origin), 200);
    // A keystore that cannot be read any more lends nothing.
    cloud.on('POST /v1/transactions/unsigned', () => ({ data: told(OLD_FIRST, origin), status: 201 }));
    writeFileSync(path, 'not a keystore');
    t.like((await buildAt(edge, OLD_FIRST)).error, {
      code: 'ADDRESS_WATCH_ONLY',
      details: { reason: 'keystore_unreadable' },
    });
  },
);

test.serial(
  'issue 4.8 killed at any place of a write the keystore opens as it was or as it should be, and the command given again ends it',
  async (t) => {
    for (const place of ['edge.keystore.locked', 'edge.keystore.written', 'edge.keystore.renamed']) {
      const { path, file, phrase } = await filledKeystore();
      file.close();
      const killed = await runSources(['purge', phrase.fingerprint, '--yes'], [PASSPHRASE], {
        EDGE_KEYSTORE_FILE: path,
        FLOCK_FAILPOINTS: `kill:${place}:1`,
      });
      t.is(killed.code, null, place);
      const between = await KeyFile.open(path, wrapWith());
      t.is(between.find(phrase.fingerprint)!.purgedAt !== null, place === 'edge.keystore.renamed', place);
      const done = await between.purge(phrase.fingerprint, 0);
      t.is(done.secret, null);
      t.deepEqual(readdirSync(dirname(path)), ['keys.flock', 'keys.flock.writer'], place);
    }
  },
);

test.serial(
  '§4.8 killed after the cloud registered or heard of a purge, the same command given again ends it',
  async (t) => {
    const cloud = await startTestCloud();
    t.teardown(() => cloud.stop());
    const { sandbox } = await cloud.organization();
    const identity = createPhraseKeystore(seedOf(PHRASE, '')).identity;
    const edge = testEdge(cloud, sandbox.apiKey, {
      keyId: identity.publicKey,
      sign: (message) => identity.sign(message),
    });
    await edge.sync();
    const { path, file, phrase } = await filledKeystore();
    const env = { EDGE_KEYSTORE_FILE: path, API_KEY: sandbox.apiKey, CLOUD_URL: cloud.url, MNEMONIC: PHRASE };
    const register = [
      'register',
      phrase.fingerprint,
      '--chains',
      'eth,xrp',
      '--path',
      "m/44'/60'/0'/0",
      '--count',
      '3',
    ];
    t.is(
      (await runSources(register, [PASSPHRASE], { ...env, FLOCK_FAILPOINTS: 'kill:edge.sources.registered:2' })).code,
      null,
    );
    file.refresh();
    t.deepEqual(file.find(phrase.fingerprint)!.addresses, []);
    t.like((await runSources(register, [PASSPHRASE], env)).answers[0], { added: 0, skipped: 3 });
    file.refresh();
    t.is(file.find(phrase.fingerprint)!.addresses.length, 3);
    const purge = ['purge', phrase.fingerprint, '--yes'];
    t.is(
      (await runSources(purge, [PASSPHRASE], { ...env, FLOCK_FAILPOINTS: 'kill:edge.sources.purge_told:1' })).code,
      null,
    );
    t.like((await sandbox.client.must('listKeySources')).content[0], { status: 'purged', addresses: 3 });
    t.is((await runSources(purge, [PASSPHRASE], env)).code, 0);
    file.refresh();
    t.like(file.find(phrase.fingerprint), { secret: null, purgeTold: true });
  },
);

test.serial(
  'issue 4.8 an edge whose keystore does not open, or has no own phrase, ends with code 78 and says why',
  async (t) => {
    const cloud = await HostileCloud.start();
    t.teardown(() => cloud.close());
    const { path } = await filledKeystore();
    const end = async (env: Record<string, string | undefined>) => {
      const edge = await startEdgeProcess(t, { cloudUrl: cloud.url, dataDir: newDirectory(), waits: false, env });
      t.is((await edge.exited).code, 78);
      t.false(holdsSecret(edge.output()));
      return edge.output();
    };
    const keystore = { EDGE_KEYSTORE_FILE: path, EDGE_KEYSTORE_PASSPHRASE: PASSPHRASE };
    t.regex(
      await end({ ...keystore, EDGE_KEYSTORE_PASSPHRASE: 'CANARY of the wrong kind' }),
      /EDGE_KEYSTORE_FILE: KEYSTORE_LOCKED/,
    );
    t.regex(
      await end({ ...keystore, EDGE_KEYSTORE_PASSPHRASE: undefined }),
      /EDGE_KEYSTORE_PASSPHRASE_FILE or EDGE_KEYSTORE_PASSPHRASE: is needed/,
    );
    t.regex(await end({ ...keystore, EDGE_KEYSTORE_FILE: newKeystorePath() }), /KEYSTORE_MISSING/);
    t.regex(await end({ ...keystore, MNEMONIC: undefined }), /SOURCE_UNKNOWN: .*--own/);
    t.regex(await end({ MNEMONIC: undefined }), /MNEMONIC_FILE or MNEMONIC: exactly one/);
    t.regex(await end({ EDGE_PKCS11_MODULE: '/nowhere.so' }), /EDGE_KEYSTORE_FILE: is needed where EDGE_PKCS11_MODULE/);
  },
);

test.serial('issue 4.8 on a terminal nothing is echoed, a new passphrase is asked twice, and ^C ends it', async (t) => {
  const env = { EDGE_KEYSTORE_FILE: newKeystorePath() };
  const imported = await typeSources(
    ['import', 'key', '--family', 'evm', '--label', 'hot'],
    [
      ['passphrase of the new keystore: ', PASSPHRASE],
      ['once more: ', `x\x7f${PASSPHRASE}`],
      ['private key (evm): ', '11'.repeat(32)],
    ],
    env,
  );
  t.is(imported.code, 0, imported.shown);
  t.regex(imported.shown, /"fingerprint":"[0-9a-f]{16}"/);
  t.false(holdsSecret(imported.shown));
  const differing = await typeSources(
    ['import', 'key', '--family', 'evm', '--label', 'hot'],
    [
      ['passphrase of the new keystore: ', PASSPHRASE],
      ['once more: ', `${PASSPHRASE}r`],
    ],
    { EDGE_KEYSTORE_FILE: newKeystorePath() },
  );
  t.regex(differing.shown, /the two passphrases differ/);
  const ended = await typeSources(['list'], [['passphrase of the keystore: ', `${PASSPHRASE}\x03`]], env);
  t.is(ended.code, 1);
  t.regex(ended.shown, /interrupted/);
  t.false(holdsSecret(ended.shown));
});

test.serial(
  'issue 4.8 PKCS#11: a token wraps the data key and the edge starts with it; a wrong PIN, another token and a passphrase open nothing',
  async (t) => {
    const token = newToken();
    const path = newKeystorePath();
    const env = { ...token.env, EDGE_KEYSTORE_FILE: path };
    const run = async (args: string[], secrets: string[], more: Record<string, string> = {}) => {
      const ran = await runSources(args, secrets, { ...env, ...more });
      t.false(holdsSecret(`${ran.out}${ran.err}${ran.seen}`), args.join(' '));
      return ran;
    };
    t.is((await run(['import', 'phrase', '--own', '--label', 'this edge'], [token.pin, PHRASE])).code, 0);
    t.is((await run(['import', 'phrase', '--label', 'old'], [token.pin, OLD_PHRASE])).code, 0);
    t.deepEqual(
      (await run(['check'], [token.pin])).answers.map(({ signs }) => signs),
      [true, true],
    );
    t.regex((await run(['check'], ['CANARY wrong'])).err, /KEYSTORE_LOCKED: .*PIN_INCORRECT/);
    t.regex(
      (await runSources(['check'], [PASSPHRASE], { EDGE_KEYSTORE_FILE: path })).err,
      /KEYSTORE_LOCKED: .*EDGE_PKCS11_MODULE/,
    );
    t.regex((await run(['check'], [token.pin], { EDGE_PKCS11_TOKEN: 'another' })).err, /MODULE_UNAVAILABLE/);

    const cloud = await HostileCloud.start();
    t.teardown(() => cloud.close());
    const dataDir = newDirectory();
    const edge = await startEdgeProcess(t, {
      cloudUrl: cloud.url,
      dataDir,
      env: { MNEMONIC: undefined, ...env, EDGE_PKCS11_PIN: token.pin },
    });
    await eventually('the identity of the own phrase is registered', () => cloud.syncs.length === 1, 90_000);
    t.is(cloud.badSignatures, 0);
    t.false(holdsSecret(edge.output()));
    token.destroy();
    t.regex((await run(['check'], [token.pin])).err, /MODULE_UNAVAILABLE/);
  },
);
