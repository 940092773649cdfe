/** Scans for used addresses, from the keys of a source to a batch. Spec §2.12, §4.8; migration M-D. */
import { randomBytes } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import test from 'ava';
import secp256k1 from 'secp256k1';
import { simulatedFamilyOf } from '../../chain-watchers/sandbox/families.ts';
import { addressOfKey as bitcoinAddress } from '../../chains/btc/derive.ts';
import { bitcoin } from '../../chains/btc/network.ts';
import { addressOfPublicKey } from '../../chains/evm/derive.ts';
import { addressOfKey as tronAddress } from '../../chains/tron/derive.ts';
import { addressOfKey as rippleAddress } from '../../chains/xrp/derive.ts';
import { catalogueOf } from '../../chains/catalogue.ts';
import { networkOf } from '../../chains/registry.ts';
import { createSandboxStore } from '../../persistence/postgres/sandbox-store.ts';
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { ledgerOf, type AccountId } from '../../protocol/ids.ts';
import type { ReplyOf, SentOf } from '../../protocol/routes.ts';
import { FAMILY_OF, type Chain } from '../../protocol/slugs.ts';
import { enrol, eventually, startTestCloud, type TestAccountKey } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

type Scan = ReplyOf<'getScan'>;
type Ask = Partial<SentOf<'discover', 'body'>>;
type Client = TestAccountKey['client'];

const PATHS: Partial<Record<Chain, string>> = {
  eth: "m/44'/60'/0'",
  btc: "m/84'/0'/0'",
  tron: "m/44'/195'/0'",
  xrp: "m/44'/144'/0'",
};

/** An account with a project and a source of fresh keys for a chain. */
async function opened(chain: Chain, paths: readonly string[] = [PATHS[chain]!]) {
  const { sandbox } = await cloud.organization();
  const edge = await enrol(cloud, sandbox);
  const root = HDKey.fromMasterSeed(randomBytes(32)),
    fingerprint = randomBytes(8).toString('hex');
  const keys = paths.map((path) => ({ chain, path, xpub: root.derive(path).publicExtendedKey }));
  const { id: keySourceId } = await edge.client.must('registerKeySource', {
    body: { fingerprint, label: 'old', kind: 'phrase', keystore: 'file', chains: [chain], keys, addresses: [] },
  });
  const { client } = sandbox;
  const { id: projectId } = await client.must('createMigrationProject', { body: { name: 'old wallet' } });
  const discover = (more: Ask = {}) =>
    client.call('discover', { params: { projectId }, body: { keySourceId, chain, ...more } });
  return { sandbox, client, edge, root, fingerprint, keySourceId, projectId, discover };
}

function addressAt(chain: Chain, root: HDKey, below: string): string {
  const { publicKey } = root.derive(`${PATHS[chain]!}/${below}`);
  const whole = () => secp256k1.publicKeyConvert(publicKey!, false);
  if (chain === 'btc') return bitcoinAddress(bitcoin.prefixes, publicKey!, 'p2wpkh');
  if (chain === 'tron') return tronAddress(whole());
  return chain === 'xrp' ? rippleAddress(publicKey!) : addressOfPublicKey(whole());
}

/** What the call answered. Throws: what was refused. */
function must(answer: Awaited<ReturnType<Awaited<ReturnType<typeof opened>>['discover']>>): Scan {
  if ('code' in answer) throw new Error(JSON.stringify(answer));
  return answer;
}
const ended = (client: Client, scanId: string): Promise<Scan> =>
  eventually(
    'the scan has ended',
    () => client.must('getScan', { params: { scanId } }),
    ({ endedAt }) => endedAt !== null,
  );
const ledgers = createSandboxStore(cloud.database.sql);
/** A payment on a simulated ledger to an address that is nobody's. */
async function outside(accountId: AccountId, chain: Chain, to: string): Promise<void> {
  const family = await simulatedFamilyOf(FAMILY_OF[chain])!(),
    ledger = ledgerOf(chain, accountId);
  const head = await ledgers.head(ledger);
  const payment = family.deposit(networkOf(chain), {
    to,
    amount: 20_000_000_000n,
    token: null,
    seed: randomBytes(32),
    balance: 0n,
  });
  if (isRefusal(payment)) throw new Error(JSON.stringify(payment));
  const block = {
    ledger,
    height: (head?.height ?? -1) + 1,
    hash: family.hashText(randomBytes(32)),
    parentHash: head?.hash ?? family.hashText(new Uint8Array(32)),
    timeMs: Date.now(),
    transactions: [payment],
  };
  if (!(await ledgers.mine(ledger, head, [block]))) throw new Error('the ledger moved');
}

for (const chain of ['eth', 'btc', 'tron', 'xrp'] as const) {
  test.serial(
    `migration M-D1, M-D3, M-D4 (A4) ${chain}: every index up to the last used one, unused ones too, becomes a batch`,
    async (t) => {
      const { sandbox, client, root, fingerprint, keySourceId, projectId, discover } = await opened(chain);
      for (const index of [0, 3, 23]) await outside(sandbox.accountId, chain, addressAt(chain, root, `0/${index}`));
      const begun = must(await discover({ userRefMappingCsv: 'derivation_index,user_ref\n1,c-1\n3,c-3\n30,c-30\n' }));
      t.like(begun, { projectId, keySourceId, chain, state: 'queued', scanned: 0, truncated: false, stoppedBy: null });
      const scan = await ended(client, begun.scanId);
      t.like(scan, {
        state: 'completed',
        stoppedBy: 'gap_limit',
        truncated: false,
        found: 3,
        lastUsedIndex: 23,
        largestGap: 19,
        unread: 0,
        evidence: 'history',
        gapLimit: 20,
        maxScan: 10_000,
        review: null,
        networks: [chain],
      });
      t.is(scan.warnings.includes('tokens_unseen'), ['eth', 'tron'].includes(chain));
      t.is(
        scan.estimate.requests,
        chain === 'tron' ? 30_000 : chain === 'eth' ? 600 : chain === 'btc' ? 20_000 : 10_000,
      );
      t.is(scan.scanned, chain === 'btc' ? 51 + 20 : 51);
      const first = await client.must('listScanAddresses', { params: { scanId: scan.id }, query: { size: '20' } });
      t.is(first.totalElements, 31);
      const rest = await client.must('listScanAddresses', {
        params: { scanId: scan.id },
        query: { size: '20', after: first.next! },
      });
      t.is(rest.next, null);
      const second = await client.must('listScanAddresses', {
        params: { scanId: scan.id },
        query: { size: '20', page: '1' },
      });
      t.deepEqual(second.content, rest.content);
      const rows = [...first.content, ...rest.content];
      t.deepEqual(
        rows,
        Array.from({ length: 31 }, (_, index) => ({
          index,
          branch: 0 as const,
          address: addressAt(chain, root, `0/${index}`),
          derivationPath: `[${fingerprint}${PATHS[chain]!.slice(1)}/0/${index}]`,
          used: [0, 3, 23].includes(index),
          userRef: [1, 3, 30].includes(index) ? `c-${index}` : null,
        })),
      );
      const batch = await client.must('createImport', { params: { projectId }, body: { scanId: scan.id } });
      t.like(batch, { scanId: scan.id, uploadId: null, state: 'created' });
      const report = await client.must('validateImport', { params: { batchId: batch.id } });
      t.like(report, { state: 'valid', rows: 31, adoptable: 31, spendable: chain === 'eth' ? 31 : 0 });
      const done = await client.must('commitImport', {
        params: { batchId: batch.id },
        body: { dryRunId: report.dryRunId! },
      });
      t.is(done.state, 'committed');
      const listed = await client.must('listAddresses', { query: { size: '200' } });
      const adopted = listed.content.filter(({ batchId }) => batchId === batch.id);
      t.is(adopted.length, 31);
      t.is(adopted.find(({ userRef }) => userRef === 'c-3')?.derivationPath, rows[3]!.derivationPath);
    },
  );
}

test.serial('migration M-D7: change of btc is counted, and imported only where it is asked for', async (t) => {
  const { sandbox, client, root, projectId, discover } = await opened('btc');
  for (const below of ['0/0', '1/4']) await outside(sandbox.accountId, 'btc', addressAt('btc', root, below));
  const scan = await ended(client, must(await discover()).scanId);
  t.like(scan, { found: 2, lastUsedIndex: 4 });
  t.true(scan.warnings.includes('change_holds_money'));
  const of = async (includeChange: boolean) => {
    const { id: batchId } = await client.must('createImport', {
      params: { projectId },
      body: { scanId: scan.id, includeChange },
    });
    return client.must('validateImport', { params: { batchId } });
  };
  const without = await of(false);
  t.like(without, { state: 'valid', rows: 1, adoptable: 1 });
  t.like(
    without.issues.find(({ code }) => code === 'change_holds_money'),
    { severity: 'warning', phase: 'derivation' },
  );
  t.like(await of(true), { state: 'valid', rows: 6, adoptable: 6 });
});

test.serial(
  'migration M-D1 (bitbox-wallet-app#2195): with `each`, accounts are indexes and the end of the keys is said',
  async (t) => {
    const paths = [0, 1, 2].map((account) => `m/44'/60'/${account}'`);
    const { sandbox, client, root, fingerprint, discover } = await opened('eth', paths);
    const third = root.derive(`${paths[2]!}/0/0`).publicKey!;
    await outside(sandbox.accountId, 'eth', addressOfPublicKey(secp256k1.publicKeyConvert(third, false)));
    const scan = await ended(client, must(await discover({ template: 'each' })).scanId);
    t.like(scan, { found: 1, lastUsedIndex: 2, stoppedBy: 'max_scan', truncated: true });
    t.true(scan.warnings.includes('keys_exhausted'));
    const { content } = await client.must('listScanAddresses', { params: { scanId: scan.id } });
    t.is(content[2]!.derivationPath, `[${fingerprint}/44'/60'/2'/0/0]`);
  },
);

test.serial(
  'migration M-D1, M-D10: with `each` an account without a key is named: no reference is given to the next one',
  async (t) => {
    const { discover } = await opened(
      'eth',
      [0, 2].map((account) => `m/44'/60'/${account}'`),
    );
    t.like(await discover({ template: 'each', userRefMappingCsv: '1,c-1' }), {
      code: 'INVALID_INPUT',
      details: { field: 'template', reason: 'account 1 has no key' },
    });
  },
);

test.serial(
  'migration M-D2: above 10,000 it runs to there, and goes on where it stopped once an administrator allows it',
  async (t) => {
    const { client, discover, projectId } = await opened('eth');
    const begun = must(await discover({ maxScan: 10_200, gapLimit: 1_000, userRefMappingCsv: '9999,last' }));
    t.like(begun, { maxScan: 10_000, requestedMaxScan: 10_200, review: 'pending' });
    const stopped = await ended(client, begun.scanId);
    t.like(stopped, { stoppedBy: 'max_scan', truncated: true, scanned: 10_000, review: 'pending' });
    const bearer = await cloud.signIn(await cloud.person({ admin: true }));
    const staff = createClient({ baseUrl: cloud.url, bearer });
    const { content, next } = await staff.must('listScanLimits');
    t.true(content.some(({ id }) => id === begun.id));
    t.is(next, null);
    const { id: batchId } = await client.must('createImport', {
      params: { projectId },
      body: { scanId: begun.id },
    });
    await client.must('simulateChainDown', { body: { chain: 'eth', seconds: 600 } });
    const allowed = await staff.must('approveScanLimit', { params: { scanId: begun.id } });
    t.like(allowed, { maxScan: 10_200, review: 'approved', state: 'queued', scanned: 10_000, truncated: false });
    t.like(await client.call('validateImport', { params: { batchId } }), {
      code: 'IMPORT_NOT_READY',
      details: { reason: 'scan' },
    });
    await client.must('simulateChainDown', { body: { chain: 'eth', seconds: 0 } });
    await cloud.database.owner`update flock.scan set due_at = clock_timestamp() where id = ${begun.id}`;
    t.like(await ended(client, begun.scanId), { stoppedBy: 'max_scan', scanned: 10_200, truncated: true });
    t.like(await staff.call('declineScanLimit', { params: { scanId: begun.id } }), { code: 'CONFLICT' });
    t.like(await staff.call('approveScanLimit', { params: { scanId: `scn_${'a'.repeat(26)}` } }), {
      code: 'NOT_FOUND',
    });
    const { totalElements } = await client.must('listScanAddresses', { params: { scanId: begun.id } });
    t.is(totalElements, 10_000);
  },
);

test.serial('migration M-D5 (A4): what cannot be read is no gap: it waits, names the reason and goes on', async (t) => {
  const { sandbox, client, root, discover } = await opened('eth');
  await outside(sandbox.accountId, 'eth', addressAt('eth', root, '0/5'));
  await client.must('simulateChainDown', { body: { chain: 'eth', seconds: 600 } });
  const begun = must(await discover());
  const waiting = await eventually(
    'the scan waits',
    () => client.must('getScan', { params: { scanId: begun.id } }),
    ({ state }) => state === 'waiting',
  );
  t.like(waiting, { scanned: 0, unread: 100, stoppedBy: null, endedAt: null, reason: 'simulated outage' });
  await client.must('simulateChainDown', { body: { chain: 'eth', seconds: 0 } });
  await cloud.database.owner`update flock.scan set due_at = clock_timestamp() where id = ${begun.id}`;
  t.like(await ended(client, begun.id), { state: 'completed', found: 1, unread: 0, reason: null });
});

test.serial(
  'migration M-D1, M-D3: each refusal by its code, one scan of a kind at a time, four in all, and the end by hand',
  async (t) => {
    const { client, discover, projectId, edge, keySourceId } = await opened('eth');
    const refused = async (more: Ask | object, like: object) => {
      const answer = await discover(more as Ask);
      t.like(answer, like, JSON.stringify(more));
    };
    await refused({ chain: 'sol' }, { code: 'INVALID_CHAIN', details: { reason: 'no_discovery' } });
    await refused({ chain: 'xlm' }, { code: 'INVALID_CHAIN', details: { reason: 'no_discovery' } });
    await refused({ chain: 'btc' }, { code: 'INVALID_INPUT', details: { field: 'keySourceId' } });
    await refused({ gapLimit: '20' }, { code: 'INVALID_INPUT' });
    await refused({ gapLimit: 1_001 }, { code: 'INVALID_INPUT' });
    await refused({ maxScan: 0 }, { code: 'INVALID_INPUT' });
    await refused({ depth: 3 }, { code: 'INVALID_INPUT' });
    await refused({ probeTokens: ['NOPE'] }, { code: 'TOKEN_NOT_SUPPORTED', details: { field: 'probeTokens' } });
    await refused(
      { userRefMappingCsv: '0,a\n0,b' },
      { code: 'INVALID_INPUT', details: { field: 'userRefMappingCsv', reason: 'duplicate_index', line: 2 } },
    );
    // names that every object has, too
    for (const keySourceId of ['ks_none', 'constructor', '__proto__'])
      await refused({ keySourceId }, { code: 'NOT_FOUND', details: { field: 'keySourceId' } });
    await client.must('simulateChainDown', { body: { chain: 'eth', seconds: 600 } });
    const first = must(await discover());
    await refused({}, { code: 'CONFLICT', details: { reason: 'scan_running' } });
    t.like(await client.call('createImport', { params: { projectId }, body: { scanId: first.id } }), {
      code: 'IMPORT_NOT_READY',
      details: { reason: 'scan' },
    });
    t.like(await client.call('createImport', { params: { projectId }, body: {} }), { code: 'INVALID_INPUT' });
    for (const chain of ['bsc', 'polygon', 'base'] as const) {
      await client.must('simulateChainDown', { body: { chain, seconds: 600 } });
      must(await discover({ chain }));
    }
    await refused({ chain: 'avax' }, { code: 'CONFLICT', details: { reason: 'too_many_scans', limit: 4 } });
    t.like(await client.must('cancelScan', { params: { scanId: first.id } }), { state: 'cancelled', stoppedBy: null });
    t.like(await client.must('cancelScan', { params: { scanId: first.id } }), { state: 'cancelled' });
    // A purged source is scanned: its keys are public.
    await edge.client.must('purgeKeySource', { params: { id: keySourceId } });
    t.is(must(await discover()).state, 'queued');
    const { sandbox: other } = await cloud.organization();
    t.like(await other.client.call('getScan', { params: { scanId: first.id } }), { code: 'NOT_FOUND' });
    t.like(await other.client.call('discover', { params: { projectId }, body: { keySourceId, chain: 'eth' } }), {
      code: 'NOT_FOUND',
    });
  },
);

test.serial('migration M-D2: limits that wait are listed page by page, each once', async (t) => {
  const begun: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { client, discover } = await opened('eth');
    await client.must('simulateChainDown', { body: { chain: 'eth', seconds: 600 } });
    begun.push(must(await discover({ maxScan: 20_000 })).id);
  }
  const bearer = await cloud.signIn(await cloud.person({ admin: true }));
  const staff = createClient({ baseUrl: cloud.url, bearer });
  const found: string[] = [];
  for (let after: string | null = ''; after !== null;) {
    const page: ReplyOf<'listScanLimits'> = await staff.must('listScanLimits', {
      query: { size: '1', ...(after === '' ? {} : { after }) },
    });
    t.true(page.content.length <= 1);
    found.push(...page.content.map(({ id }) => id));
    after = page.next;
  }
  t.deepEqual(
    found.filter((id) => begun.includes(id)),
    begun,
  );
});

test.serial('migration M-D6: without a word about tokens those of the catalogue are asked about', async (t) => {
  const { discover, client } = await opened('eth');
  const estimateOf = async (more: Ask) => {
    const { scanId, estimate } = must(await discover(more));
    await client.must('cancelScan', { params: { scanId } });
    return estimate.requests;
  };
  t.is(await estimateOf({}), 100 * (3 + catalogueOf('eth').size));
  t.is(await estimateOf({ probeTokens: [] }), 300);
  t.is(await estimateOf({ probeTokens: ['USDC'] }), 400);
});
