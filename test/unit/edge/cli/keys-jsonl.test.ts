import { HDKey } from '@scure/bip32';
import test from 'ava';
import { EVM_CHAINS } from '../../../../protocol/slugs.ts';
import { ask, run } from '../../../support/lines.ts';
import { vector } from '../../../support/vectors.ts';

const FLOCK_EDGE = 'edge/cli/flock-edge.ts';
const asked = (requests: readonly object[]) => ask(FLOCK_EDGE, ['keys', '--jsonl'], requests);

interface Account {
  mnemonic: string;
  passphrase: string;
  accountPath: string;
  purpose?: number;
  xpub: string;
  addresses: { path: string; address: string }[];
}
const accountsOf = (file: string) => vector<{ accounts: Account[] }>(`derivation/${file}.json`).accounts;

const PHRASE = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
const SCRIPTS: Readonly<Record<number, string>> = { 44: 'p2pkh', 49: 'p2sh-p2wpkh', 84: 'p2wpkh', 86: 'p2tr' };

test('6.1 8.1 derive and xpub: every vector of btc, evm, tron and xrp', async (t) => {
  const requests: object[] = [];
  const expected: object[] = [];
  const add = (chain: string, { mnemonic, passphrase, accountPath, purpose, xpub, addresses }: Account) => {
    requests.push({ op: 'xpub', chain, mnemonic, passphrase, path: accountPath });
    expected.push({ xpub });
    for (const { path, address } of addresses) {
      requests.push({
        op: 'derive',
        chain,
        mnemonic,
        passphrase,
        path: path.replaceAll("'", chain === 'xrp' ? 'h' : "'"),
      });
      expected.push({ address, path });
      if (purpose === undefined) continue;
      requests.push({ op: 'derive', chain, mnemonic, passphrase, path, script: SCRIPTS[purpose] });
      expected.push({ address, path });
    }
  };
  for (const account of accountsOf('btc-bip44-49-84-86')) add('btc', account);
  for (const account of accountsOf('evm-bip44-60')) for (const chain of EVM_CHAINS) add(chain, account);
  for (const account of accountsOf('tron-bip44-195')) add('tron', account);
  for (const account of accountsOf('xrp-bip44-144')) add('xrp', account);
  t.deepEqual(await asked(requests), expected);
});

test('7.1 9.1 SLIP-0010 SEP-0005 derive: every vector of sol and xlm, all paths that wallets use', async (t) => {
  const sep = vector<{
    published: (Omit<Account, 'addresses'> & { accounts: { path: string; publicKey: string }[] })[];
  }>('derivation/xlm-sep0005.json').published;
  const cases = [
    ...accountsOf('sol-bip44-501').flatMap(({ mnemonic, passphrase, addresses }) =>
      addresses.map(({ path, address }) => ({ chain: 'sol', mnemonic, passphrase, path, address })),
    ),
    ...accountsOf('xlm-sep0005').flatMap(({ mnemonic, passphrase, addresses }) =>
      addresses.map(({ path, address }) => ({ chain: 'xlm', mnemonic, passphrase, path, address })),
    ),
    ...sep.flatMap(({ mnemonic, passphrase, accounts }) =>
      accounts.map(({ path, publicKey }) => ({ chain: 'xlm', mnemonic, passphrase, path, address: publicKey })),
    ),
    {
      chain: 'sol',
      mnemonic: PHRASE,
      passphrase: '',
      path: "m/44'/501'/0'/1'/0'",
      address: '9pedgei8s5tZ7S4FpLjg2WXAs5cG9SFvfgPig5RhcGdU',
    },
    {
      chain: 'xlm',
      mnemonic: PHRASE,
      passphrase: '',
      path: "m/44'/148'/0'/1'/0'",
      address: 'GAT3NH5AQWJXLOJU6GYGJJMSYRBKDSATDFXGJ5BFCECBEPRC2KWRSB4X',
    },
  ];
  t.true(cases.length > 150);
  const answers = await asked(cases.map(({ address: _, ...request }) => ({ op: 'derive', ...request })));
  t.deepEqual(
    answers,
    cases.map(({ address, path }) => ({ address, path })),
  );
});

test('decisions 3 identity: every vector of the edge key', async (t) => {
  const { identities } = vector<{ identities: { mnemonic: string; passphrase: string; publicKey: string }[] }>(
    'derivation/edge-identity-ed25519.json',
  );
  const answers = await asked(identities.map(({ mnemonic, passphrase }) => ({ op: 'identity', mnemonic, passphrase })));
  t.deepEqual(
    answers,
    identities.map(({ publicKey }) => ({ publicKey })),
  );
});

test('BIP-39 mnemonic: valid and invalid phrases; the root keys of the vectors', async (t) => {
  const { vectors, validity } = vector<{
    vectors: { mnemonic: string; passphrase: string; xprv: string }[];
    validity: { mnemonic: string; valid: boolean; reason: string }[];
  }>('derivation/bip39-english.json');
  const answers = await asked([...vectors, ...validity].map(({ mnemonic }) => ({ op: 'mnemonic', mnemonic })));
  for (const answer of answers.slice(0, vectors.length)) t.deepEqual(answer, { valid: true });
  for (const [index, { valid, reason }] of validity.entries())
    t.is(answers[vectors.length + index]!['valid'], valid, reason);
  const roots = await asked(
    vectors.map(({ mnemonic, passphrase }) => ({ op: 'xpub', chain: 'btc', mnemonic, passphrase, path: 'm' })),
  );
  t.deepEqual(
    roots,
    vectors.map(({ xprv }) => ({ xpub: HDKey.fromExtendedKey(xprv).publicExtendedKey })),
  );
  const spaced = await asked(
    [
      ` ${PHRASE}`,
      `${PHRASE} `,
      PHRASE.replace(' ', '  '),
      PHRASE.replace(' ', '\t'),
      PHRASE.replaceAll(' ', '\n'),
    ].map((mnemonic) => ({ op: 'mnemonic', mnemonic })),
  );
  for (const answer of spaced) t.is(answer['valid'], false);
});

test('spec 5.3 nothing of a phrase or passphrase is ever written, whatever is wrong with the request', async (t) => {
  const words = 'zebra zebra zebra zebra zebra zebra zebra zebra zebra zebra zebra zebra';
  const requests = [
    { op: 'derive', chain: 'eth', mnemonic: words, passphrase: 'hunter2', path: 'm' },
    { op: 'derive', chain: 'eth', mnemonic: PHRASE, passphrase: 'hunter2', path: 'x' },
    { op: 'derive', chain: words, mnemonic: PHRASE, path: 'm' },
    { op: words, mnemonic: PHRASE },
    { op: 'xpub', chain: 'sol', mnemonic: words, path: 'm' },
    { op: 'identity', mnemonic: words },
    { op: 'mnemonic', mnemonic: words },
    { op: 'mnemonic', mnemonic: [words] },
    { op: 'identity', mnemonic: PHRASE, passphrase: 5 },
    { op: 'identity', id: words, mnemonic: words },
    { op: 'derive', chain: 'sol', mnemonic: PHRASE, path: "m/44'/501'/0" },
    { op: 'derive', chain: 'btc', mnemonic: PHRASE, path: 'm/0', script: words },
    { op: 'derive', chain: 'eth', mnemonic: PHRASE, path: words },
    { op: 'derive', chain: 'eth', mnemonic: PHRASE, path: `m/${2 ** 31}` },
    { op: 'derive', chain: 'eth', mnemonic: PHRASE },
    { op: 'derive', chain: 'xlm', mnemonic: PHRASE, path: null },
    { op: 'derive', chain: 'eth', mnemonic: PHRASE, path: 'm/44H' },
    { op: 'derive', chain: 'eth', mnemonic: PHRASE, path: 'M/0' },
  ];
  const { code, out, err } = await run(
    FLOCK_EDGE,
    ['keys', '--jsonl'],
    [...requests.map((request) => JSON.stringify(request)), `{"op":"mnemonic","mnemonic":"${words}`].join('\n'),
  );
  t.deepEqual([code, err], [0, '']);
  t.is(out.trim().split('\n').length, requests.length + 1);
  for (const secret of ['zebra', 'abandon', 'hunter2']) t.false(out.includes(secret), secret);
  for (const line of out.trim().split('\n')) t.true(line.includes('"error"') || line.includes('"valid":false'), line);
});

test('issue 3.8 the command: nothing to answer ends well; phrases as arguments are refused without being repeated', async (t) => {
  t.deepEqual(await run(FLOCK_EDGE, ['keys', '--jsonl'], ''), { code: 0, out: '', err: '' });
  for (const args of [[], ['keys'], ['keys', '--jsonl', PHRASE], ['keys', PHRASE], [PHRASE]]) {
    const { code, out, err } = await run(FLOCK_EDGE, args, '');
    t.deepEqual([code, out], [2, '']);
    t.regex(err, /usage: flock-edge/);
    t.false(err.includes('abandon'));
  }
});

test('issue 3.8 a line above 64 KiB is answered and the next one read', async (t) => {
  const { out } = await run(
    FLOCK_EDGE,
    ['keys', '--jsonl'],
    `${'x'.repeat(70_000)}\n{"op":"mnemonic","id":1,"mnemonic":""}\n`,
  );
  t.deepEqual(
    out
      .split('\n')
      .map((line) => (line === '' ? '' : ((JSON.parse(line) as { error?: { code: string } }).error?.code ?? 'ok'))),
    ['PAYLOAD_TOO_LARGE', 'ok', ''],
  );
});
