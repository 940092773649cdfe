import test from 'ava';
import { descriptorChecksum } from '../../../../chains/btc/descriptor-checksum.ts';
import { EVM_CHAINS } from '../../../../protocol/slugs.ts';
import { ask, run, type Answer } from '../../../support/lines.ts';
import { expectedCases, sampleTokens, vector, vectorText, type ExpectedCase } from '../../../support/vectors.ts';

const FLOCK = 'gateway/cli/flock.ts';
const asked = (requests: readonly object[]) => ask(FLOCK, ['chain', '--jsonl'], requests);

interface AccountVector {
  accountPath: string;
  purpose?: number;
  xpub: string;
  ypub?: string;
  zpub?: string;
  addresses: { relativePath: string; address: string }[];
}

const SCRIPTS: Readonly<Record<number, string>> = { 44: 'p2pkh', 49: 'p2sh-p2wpkh', 84: 'p2wpkh', 86: 'p2tr' };

test('6.1 8.1 derive: every vector of btc, evm, tron and xrp, from xpub, ypub and zpub', async (t) => {
  const requests: object[] = [];
  const expected: object[] = [];
  const add = (chain: string, account: AccountVector, keys: readonly (string | undefined)[], script?: string) => {
    for (const xpub of keys.filter((key) => key !== undefined)) {
      for (const { relativePath, address } of account.addresses) {
        const [change, index] = relativePath.split('/').map(Number);
        requests.push({ op: 'derive', chain, xpub, change, index, ...(script === undefined ? {} : { script }) });
        expected.push({ address, path: `M/${relativePath}` });
      }
    }
  };
  for (const account of vector<{ accounts: AccountVector[] }>('derivation/btc-bip44-49-84-86.json').accounts) {
    add('btc', account, [account.xpub, account.ypub, account.zpub], SCRIPTS[account.purpose!]);
    if (account.purpose === 84) add('btc', account, [account.xpub, account.zpub]);
    if (account.purpose === 49) add('btc', account, [account.ypub]);
    if (account.purpose === 49) add('btc', account, [account.xpub], 'p2sh');
  }
  for (const [family, chains] of [
    ['evm-bip44-60', EVM_CHAINS],
    ['tron-bip44-195', ['tron']],
    ['xrp-bip44-144', ['xrp']],
  ] as const) {
    for (const account of vector<{ accounts: AccountVector[] }>(`derivation/${family}.json`).accounts)
      for (const chain of chains) add(chain, account, [account.xpub]);
  }
  t.true(requests.length > 1_000);
  t.deepEqual(await asked(requests), expected);
});

test('BIP-32 derive: broken and private extended keys, wrong indexes and chains are refused, and never repeated', async (t) => {
  const { xpub } = vector<{ accounts: AccountVector[] }>('derivation/btc-bip44-49-84-86.json').accounts[0]!;
  const { invalid, vectors } = vector<{ invalid: { key: string }[]; vectors: { chains: { xprv: string }[] }[] }>(
    'derivation/bip32.json',
  );
  const keys = [...invalid.map(({ key }) => key), vectors[0]!.chains[0]!.xprv, '', 'xpub', 'tpubD6NzVbkrYhZ4X'];
  const requests = [
    ...keys.map((key) => ({ op: 'derive', chain: 'btc', xpub: key, change: 0, index: 0 })),
    ...[-1, 2 ** 31, 1.5, '0', null].map((index) => ({ op: 'derive', chain: 'eth', xpub, change: 0, index })),
    ...[2, -1, '0'].map((change) => ({ op: 'derive', chain: 'eth', xpub, change, index: 0 })),
    { op: 'derive', chain: 'btc', xpub, index: 0, script: 'p2wsh' },
    { op: 'derive', chain: 'sol', xpub, change: 0, index: 0 },
    { op: 'derive', chain: 'xlm', xpub, change: 0, index: 0 },
    { op: 'derive', chain: 'doge', xpub, change: 0, index: 0 },
    { op: 'derive', chain: 'btc', index: 0 },
  ];
  const answers = await asked(requests);
  t.is(answers.length, requests.length);
  for (const [index, { error }] of answers.entries()) {
    t.truthy(error, JSON.stringify(requests[index]));
    const { xpub: key } = requests[index] as { xpub?: string };
    if (key !== undefined && key.length > 8) t.false(JSON.stringify(answers[index]).includes(key.slice(0, 20)));
  }
  t.is(answers[keys.length - 4]!.error!.code, 'KEY_MATERIAL_REJECTED');
  t.is(answers.at(-2)!.error!.code, 'INVALID_CHAIN');
});

interface AddressVectors {
  cases: {
    address: string;
    valid: boolean | null;
    type?: string;
    onCurve?: boolean;
    class?: string;
    checksummed?: string;
  }[];
}

/** Whether and how each address vector is taken: chain, text, canonical text and kind, or null. */
function addressVectors(): [chain: string, text: string, taken: object | null][] {
  const btc = vector<
    AddressVectors & {
      core: { address: string; valid: boolean; type: string }[];
      coreInvalid: { address: string }[];
      segwit: { address: string; scriptPubKey: string }[];
      segwitInvalid: { address: string }[];
    }
  >('addresses/btc.json');
  const xrp = vector<{
    classic: { address: string; valid: boolean }[];
    xAddress: { classicAddress: string; tag: number | null; mainnet: string; testnet: string }[];
    invalidXAddress: { xAddress?: string }[];
  }>('addresses/xrp.json');
  const xlm = vector<{ valid: { strkey: string; acceptAsDepositAddress: boolean }[]; invalid: { strkey: string }[] }>(
    'addresses/xlm-strkey.json',
  );
  const kindOfScript = (script: string) =>
    /^0014.{40}$/.test(script)
      ? 'p2wpkh'
      : /^0020.{64}$/.test(script)
        ? 'p2wsh'
        : /^5120.{64}$/.test(script)
          ? 'p2tr'
          : null;
  const take = (text: string, kind: string, canonical = text) => ({ valid: true, canonical, kind });
  const segwitText = (address: string) => (/^bc1/i.test(address) ? address.toLowerCase() : null);
  return [
    ...btc.cases.map(
      ({ address, valid, type }) =>
        ['btc', address, valid ? take(address, type!, segwitText(address) ?? address) : null] as [
          string,
          string,
          object | null,
        ],
    ),
    ...btc.core.map(
      ({ address, valid, type }) =>
        ['btc', address, valid ? take(address, type === 'pubkey' ? 'p2pkh' : 'p2sh') : null] as [
          string,
          string,
          object | null,
        ],
    ),
    ...[...btc.coreInvalid, ...btc.segwitInvalid].map(
      ({ address }) => ['btc', address, null] as [string, string, null],
    ),
    ...btc.segwit.map(({ address, scriptPubKey }) => {
      const kind = kindOfScript(scriptPubKey),
        canonical = segwitText(address);
      return ['btc', address, kind === null || canonical === null ? null : take(address, kind, canonical)] as [
        string,
        string,
        object | null,
      ];
    }),
    ...vector<AddressVectors>('addresses/tron.json').cases.map(
      ({ address, valid }) =>
        ['tron', address, valid ? take(address, 'tron') : null] as [string, string, object | null],
    ),
    ...vector<AddressVectors>('addresses/sol.json')
      .cases.filter(({ valid }) => valid !== null)
      .map(
        ({ address, valid, onCurve }) =>
          ['sol', address, valid === true ? take(address, onCurve === true ? 'wallet' : 'pda') : null] as [
            string,
            string,
            object | null,
          ],
      ),
    ...vector<AddressVectors>('addresses/evm-eip55.json').cases.flatMap(({ address, class: kind, checksummed }) =>
      EVM_CHAINS.map(
        (chain) =>
          [
            chain,
            address,
            kind === 'checksum_ok' || kind === 'single_case_no_checksum'
              ? take(address, 'eoa', checksummed ?? address)
              : null,
          ] as [string, string, object | null],
      ),
    ),
    ...xrp.classic.map(
      ({ address, valid }) =>
        ['xrp', address, valid ? take(address, 'classic') : null] as [string, string, object | null],
    ),
    ...xrp.xAddress.flatMap(({ classicAddress, tag, mainnet, testnet }): [string, string, object | null][] => [
      ['xrp', mainnet, { ...take(mainnet, 'classic', classicAddress), tag: tag === null ? null : String(tag) }],
      ['xrp', testnet, null],
    ]),
    ...xrp.invalidXAddress.flatMap(({ xAddress }) =>
      xAddress === undefined ? [] : [['xrp', xAddress, null] as [string, string, null]],
    ),
    ...xlm.valid.map(
      ({ strkey, acceptAsDepositAddress }) =>
        ['xlm', strkey, acceptAsDepositAddress ? take(strkey, 'account') : null] as [string, string, object | null],
    ),
    ...xlm.invalid.map(({ strkey }) => ['xlm', strkey, null] as [string, string, null]),
  ];
}

test('G6 address: every vector of every chain, canonical, or refused with a reason that does not repeat it', async (t) => {
  const cases = addressVectors();
  const answers = await asked(cases.map(([chain, text]) => ({ op: 'address', chain, address: text })));
  for (const [index, [chain, text, taken]] of cases.entries()) {
    const answer = answers[index]!;
    if (taken !== null) {
      t.deepEqual(answer, taken as Answer, `${chain} ${text}`);
      continue;
    }
    t.is(answer['valid'], false, `${chain} ${text}`);
    t.is(typeof answer['reason'], 'string');
    if (text.length > 12) t.false(JSON.stringify(answer).includes(text));
  }
});

test('BIP-380 descriptor: addresses branch after branch; a missing checksum and a private key are refused', async (t) => {
  const { descriptors, invalid } = vector<{
    descriptors: {
      descriptor: string;
      multipath?: boolean;
      addresses: { index: number; branch?: number; address: string }[];
    }[];
    invalid: { descriptor: string }[];
  }>('descriptors/account-descriptors.json');
  const answers = await asked([
    ...descriptors.map(({ descriptor }) => ({ op: 'descriptor', descriptor, from: 0, count: 3 })),
    ...invalid.map(({ descriptor }) => ({ op: 'descriptor', descriptor, from: 0, count: 3 })),
  ]);
  for (const [at, { multipath, addresses }] of descriptors.entries()) {
    const found = answers[at]!['addresses'] as string[];
    t.is(answers[at]!['valid'], true);
    t.is(found.length, multipath === true ? 6 : 3);
    for (const { index, branch = 0, address } of addresses) t.is(found[branch * 3 + index], address);
  }
  for (const answer of answers.slice(descriptors.length)) t.like(answer, { valid: false });
  const xprv = vector<{ vectors: { chains: { xprv: string }[] }[] }>('derivation/bip32.json').vectors[0]!.chains[0]!
    .xprv;
  const body = `pkh(${xprv}/0/*)`;
  const [priv, range, fixed] = await asked([
    { op: 'descriptor', descriptor: `${body}#${descriptorChecksum(body)}`, from: 0, count: 1 },
    { op: 'descriptor', descriptor: descriptors[0]!.descriptor, from: 2 ** 31 - 1, count: 2 },
    { op: 'descriptor', descriptor: 'addr(3PUNyaW7M55oKWJ3kDukwk9bsKvryra15j)#', from: 0, count: 1 },
  ]);
  t.deepEqual(priv, { valid: false, reason: 'holds a private key' });
  t.is(range!.error!.code, 'INVALID_INPUT');
  t.like(fixed!, { valid: false });
});

test('decisions 4 webhook-verify: every vector', async (t) => {
  const { vectors } = vector<{
    vectors: { secret: string; headers: object; payload: string; valid: boolean; note: string }[];
  }>('auth/standard-webhooks.json');
  const answers = await asked(
    vectors.map(({ secret, headers, payload }) => ({ op: 'webhook-verify', secret, headers, payload })),
  );
  for (const [index, { valid, note }] of vectors.entries()) {
    t.is(answers[index]!['valid'], valid, note);
    if (valid) t.deepEqual(answers[index]!, { valid: true });
  }
  const { secret, headers, payload } = vectors[0]!;
  const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
  const others = await asked([
    { op: 'webhook-verify', secret, headers: upper, payload },
    { op: 'webhook-verify', secret: 'nothing', headers, payload },
    { op: 'webhook-verify', secret, payload },
  ]);
  t.deepEqual(
    others.map((answer) => answer['valid'] ?? answer.error!.code),
    [true, 'INVALID_INPUT', 'INVALID_INPUT'],
  );
});

test('RFC 6238 totp: every vector, with and without the optional fields', async (t) => {
  interface Totp {
    secretHex?: string;
    secretBase32?: string;
    timeSeconds: number;
    algorithm: string;
    digits: number;
    periodSeconds: number;
    code: string;
    previousStepCode?: string;
  }
  const { rfc6238, cases } = vector<{ rfc6238: Totp[]; cases: Totp[] }>('auth/totp.json');
  const base32 = (hex: string) => {
    const bits = [...Buffer.from(hex, 'hex')].map((byte) => byte.toString(2).padStart(8, '0')).join('');
    return (bits.match(/.{1,5}/g) ?? [])
      .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[parseInt(five.padEnd(5, '0'), 2)])
      .join('');
  };
  const requests = [
    ...rfc6238.map(({ secretHex, timeSeconds, algorithm, digits, periodSeconds }) => ({
      op: 'totp',
      secret: base32(secretHex!),
      atSeconds: timeSeconds,
      algorithm,
      digits,
      periodSeconds,
    })),
    ...cases.map(({ secretBase32, timeSeconds }) => ({ op: 'totp', secret: secretBase32, atSeconds: timeSeconds })),
    ...cases.map(({ secretBase32, timeSeconds }) => ({
      op: 'totp',
      secret: secretBase32!.toLowerCase().replace(/(.{4})/g, '$1 '),
      atSeconds: timeSeconds - 30,
    })),
  ];
  t.deepEqual(
    (await asked(requests)).map(({ code }) => code),
    [...rfc6238, ...cases].map(({ code }) => code).concat(cases.map(({ previousStepCode }) => previousStepCode!)),
  );
  const refused = await asked(
    [
      { secret: '', atSeconds: 0 },
      { secret: 'A1', atSeconds: 0 },
      { secret: 'AAAA', atSeconds: -1 },
      { secret: 'AAAA', atSeconds: '5' },
      { secret: 'AAAA' },
    ].map((fields) => ({ op: 'totp', ...fields })),
  );
  for (const { error } of refused) t.is(error!.code, 'INVALID_INPUT');
});

/** The answers of one expected case as a line, their text untouched: re-serialising would lose digits. */
function transfersLine(expected: ExpectedCase): string | null {
  const [first, second] = expected.files.map((file) => vectorText(file).replaceAll('\n', ' '));
  const tokens = JSON.stringify(sampleTokens(expected.chain));
  const answers =
    expected.chain === 'btc'
      ? /"tx": ?\[/.test(first!)
        ? `{"block":${first}}`
        : null
      : expected.chain === 'tron'
        ? second === undefined
          ? null
          : `{"block":${first},"infos":${second}}`
        : expected.chain === 'sol'
          ? first!.includes('"transactions"')
            ? `{"block":${first}}`
            : `{"block":{"transactions":[${first!.slice(first!.indexOf('"result"') + 9).replace(/,\s*"id"\s*:\s*[0-9]+\s*\}\s*$|\}\s*$/, '')}]}}`
          : expected.chain === 'xrp'
            ? first!.includes('"ledger"')
              ? `{"ledger":${first}}`
              : null
            : expected.chain === 'xlm'
              ? expected.credits === undefined
                ? null
                : `{"operations":${first}}`
              : second === undefined
                ? null
                : `{"block":${first},"receipts":${second}}`;
  return answers === null || expected.network === 'test'
    ? null
    : `{"op":"transfers","id":${JSON.stringify(expected.case)},"chain":"${expected.chain}","answers":${answers},"tokens":${tokens}}`;
}

test('G2 G3 G4 transfers: the recorded answers of every chain through the command give the expected credits', async (t) => {
  const cases = ['btc', ...EVM_CHAINS, 'tron', 'sol', 'xrp', 'xlm']
    .flatMap((chain) => expectedCases(chain))
    .flatMap((expected) => {
      const line = transfersLine(expected);
      return line === null ? [] : [{ expected, line }];
    });
  t.true(cases.length >= 45);
  const { code, out, err } = await run(FLOCK, ['chain', '--jsonl'], cases.map(({ line }) => line).join('\r\n'));
  t.deepEqual([code, err], [0, '']);
  const answers = out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Answer);
  t.is(answers.length, cases.length);
  for (const [index, { expected }] of cases.entries()) {
    const answer = answers[index]!;
    t.is(answer['id'], expected.case);
    t.is(answer.error, undefined, expected.case);
    const transfers = answer['transfers'] as Record<string, unknown>[];
    const listed = new Set<unknown>([null, ...sampleTokens(expected.chain).map(({ contract }) => contract)]);
    const shape = (txid: string, to: unknown, amount: unknown, contract: unknown) =>
      `${txid} ${String(to)} ${String(amount)} ${String(contract)}`;
    t.deepEqual(
      transfers.map(({ txid, to, amount, tokenContract }) => shape(txid as string, to, amount, tokenContract)).sort(),
      expected
        .credits!.filter(({ tokenContract }) => listed.has(tokenContract))
        .map((credit) => shape(credit.txid, credit.address, credit.amount, credit.tokenContract))
        .sort(),
      expected.case,
    );
    for (const transfer of transfers)
      t.deepEqual(Object.keys(transfer), ['txid', 'outputIndex', 'to', 'amount', 'decimals', 'tokenContract', 'tag']);
    for (const { txid, why } of expected.mustNotCredit ?? []) {
      t.true(
        (answer['ignored'] as { txid: string }[]).some((entry) => entry.txid === txid) ||
          transfers.some((entry) => entry['txid'] === txid),
        `${expected.case} ${why}`,
      );
    }
  }
});

test('G8 transfers: a missing part of a unit is an error, never an empty list', async (t) => {
  const btc = JSON.parse(vectorText('nodes/btc/getblock_v2_old_shape_50001.json')) as object;
  const requests = [
    { chain: 'eth', answers: { block: { number: '0x1', transactions: [] } } },
    { chain: 'tron', answers: { block: { block_header: { raw_data: { number: 1 } } } } },
    { chain: 'btc', answers: {} },
    { chain: 'btc', answers: { block: null } },
    { chain: 'btc', answers: { block: { result: null, error: { code: -5 } } } },
    { chain: 'btc', answers: { block: {} } },
    { chain: 'sol', answers: { block: {} } },
    { chain: 'xrp', answers: { ledger: {} } },
    { chain: 'xrp', answers: { ledger: { validated: false, ledger: { transactions: [] } } } },
    { chain: 'xlm', answers: {} },
    { chain: 'xlm', answers: { operations: {} } },
    { chain: 'btc' },
    { chain: 'btc', answers: { block: btc }, tokens: [{ contract: 'x', decimals: 6 }] },
    {
      chain: 'tron',
      answers: { block: { block_header: { raw_data: {} } }, infos: [] },
      tokens: [{ contract: 'TR7', decimals: 6 }],
    },
    {
      chain: 'tron',
      answers: { block: { block_header: { raw_data: {} } }, infos: [] },
      tokens: [{ contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', decimals: 'x' }],
    },
  ].map((fields) => ({ op: 'transfers', ...fields }));
  const answers = await asked(requests);
  for (const [index, { error }] of answers.entries()) t.truthy(error, JSON.stringify(requests[index]));
  const [empty] = await asked([
    { op: 'transfers', chain: 'tron', answers: { block: { block_header: { raw_data: {} } }, infos: {} } },
  ]);
  t.deepEqual(empty, { transfers: [], ignored: [] });
});

test('R10 tokenContract is the text of the catalogue that was given, whatever its spelling of the currency', async (t) => {
  const issuer = 'rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De';
  const hex = '524C555344000000000000000000000000000000';
  const ledger = {
    validated: true,
    ledger: {
      transactions: [
        {
          TransactionType: 'Payment',
          Account: 'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf',
          Destination: 'rHsMGQEkVNJmpGWs8XUBoTBiAAbwxZN5v3',
          Fee: '10',
          hash: 'AB'.repeat(32),
          metaData: {
            TransactionResult: 'tesSUCCESS',
            AffectedNodes: [
              {
                ModifiedNode: {
                  LedgerEntryType: 'RippleState',
                  FinalFields: {
                    Balance: { currency: hex, issuer: 'rrrrrrrrrrrrrrrrrrrrBZbvji', value: '-124' },
                    LowLimit: { currency: hex, issuer, value: '0' },
                    HighLimit: { currency: hex, issuer: 'rHsMGQEkVNJmpGWs8XUBoTBiAAbwxZN5v3', value: '1000' },
                  },
                  PreviousFields: { Balance: { currency: hex, issuer: 'rrrrrrrrrrrrrrrrrrrrBZbvji', value: '-1' } },
                },
              },
            ],
            delivered_amount: { currency: hex, issuer, value: '1.23e2' },
          },
        },
      ],
    },
  };
  const texts = [`${hex}:${issuer}`, `${hex.toLowerCase()}:${issuer}`, `RLUSD:${issuer}`];
  const answers = await asked(
    texts.map((contract) => ({
      op: 'transfers',
      chain: 'xrp',
      answers: { ledger },
      tokens: [{ contract, symbol: 'RLUSD', decimals: 15 }],
    })),
  );
  t.deepEqual(
    answers.map((answer) => answer['transfers']),
    texts.map((tokenContract) => [
      {
        txid: 'AB'.repeat(32),
        outputIndex: 0,
        to: 'rHsMGQEkVNJmpGWs8XUBoTBiAAbwxZN5v3',
        amount: '123000000000000000',
        decimals: 15,
        tokenContract,
        tag: null,
      },
    ]),
  );
});

test('issue 3.8 the command: nothing to answer ends well; a wrong invocation prints the usage on standard error', async (t) => {
  t.deepEqual(await run(FLOCK, ['chain', '--jsonl'], ''), { code: 0, out: '', err: '' });
  for (const args of [[], ['chain'], ['chain', '--json'], ['nothing'], ['chain', '--jsonl', 'x']]) {
    const { code, out, err } = await run(FLOCK, args, '');
    t.deepEqual([code, out], [2, '']);
    t.regex(err, /usage: flock/);
  }
});
