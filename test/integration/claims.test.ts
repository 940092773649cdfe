/**
 * Every function that the application role may call is given claims that are not its caller's to make: rows, epochs,
 * heights or accounts of somebody else. A function that is granted and has no attack here fails the first test.
 * Reliability 2.
 */
import { createHash, randomBytes } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { constraintOf, sqlstateOf } from '../../persistence/postgres/sql.ts';
import type { Stores } from '../../persistence/postgres/stores.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { addressLimitOf, BAND_TERMS, TIER_TERMS } from '../../protocol/plans.ts';
import type { Band, Tier } from '../../protocol/slugs.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import {
  addressRow,
  adopt,
  depositWrites,
  linksAfter,
  newOrganization,
  NOW_MS,
  openStores,
  publicationRow,
  recordOf,
  transferTo,
  webhookRow,
  withdrawalRow,
  write,
  type TestOrganization,
} from '../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
let ours: TestOrganization, theirs: TestOrganization;
let own: AddressRow, foreign: AddressRow, simulated: AddressRow, taken: AddressRow;
let sent: WithdrawalRow;
let held: { id: string; eventId: string; webhookId: string };

const LINKS = linksAfter({ height: 100, hash: 'a100' }, 5, 'a');
const [B101, , B103, , B105] = LINKS as [
  (typeof LINKS)[0],
  (typeof LINKS)[0],
  (typeof LINKS)[0],
  (typeof LINKS)[0],
  (typeof LINKS)[0],
];
const HEAD = { height: 105, hash: 'a105' };

test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
  [ours, theirs] = [await newOrganization(stores), await newOrganization(stores)];
  [own, foreign, simulated] = [addressRow(ours.live), addressRow(theirs.live), addressRow(ours.sandbox)];
  sent = withdrawalRow(foreign);
  taken = await adopt(database, ours.live);
  const hook = webhookRow(theirs.live),
    told = publicationRow(theirs.live);
  await write(stores, ours.live, [{ table: 'address', row: own }]);
  await write(stores, ours.sandbox, [{ table: 'address', row: simulated }]);
  await write(stores, theirs.live, [
    { table: 'address', row: foreign },
    { table: 'withdrawal', row: sent },
    { table: 'webhook', row: hook },
  ]);
  await write(stores, theirs.live, [{ table: 'publication', row: told }, ...depositWrites(foreign, 'confirmed').rows]);
  const [delivery] = await database.owner<{ id: string }[]>`select id from delivery where event_id = ${told.eventId}`;
  held = { id: delivery!.id, eventId: told.eventId, webhookId: hook.id };
  const paid = transferTo(own, B101, { txid: '0xpaid' });
  for (const [index, link] of LINKS.entries())
    await stores.watch.recordBlock(
      'eth',
      recordOf(link, index === 0 ? [paid] : [], index === 0 ? { previous: null } : {}),
    );
});
test.after.always(() => database.close());

/** What the books hold, as one text: an attack that is not refused must have left it as it was. */
async function books(): Promise<string> {
  const [row] = await database.owner<{ text: string }[]>`select concat_ws(E'\n',
    (select string_agg(a::text, ';' order by a.account_id) from account a), (select string_agg(s::text, ';' order by s.id) from shard s),
    (select string_agg(e::text, ';' order by e.account_id, e.version) from event e), (select string_agg(d::text, ';' order by d.id) from deposit d),
    (select string_agg(l::text, ';' order by l.deposit_id, l.incarnation, l.kind) from ledger_entry l), (select string_agg(w::text, ';' order by w.id) from withdrawal w),
    (select string_agg(i::text, ';' order by i.id) from inbox i), (select string_agg(f::text, ';' order by f.ledger, f.txid, f.output_index) from fact f),
    (select string_agg(c::text, ';' order by c.ledger) from chain_cursor c), (select string_agg(d::text, ';' order by d.id) from delivery d),
    (select string_agg(a::text, ';' order by a.account_id, a.id) from address a), (select string_agg(w::text, ';' order by w.id) from webhook w),
    (select string_agg(b::text, ';' order by b.ledger, b.height, b.hash) from block_link b), (select string_agg(i::text, ';' order by i.account_id, i.key) from idempotency i)) as text`;
  return row!.text;
}

type Expected =
  /** Refused by this constraint. */
  | { refused: string }
  /** Done without effect on the books. */
  | 'nothing'
  /** A read, or a claim that only its caller could know: what bounds it stands in the threat model. */
  | { open: string };

interface Attack {
  readonly name: string;
  readonly expected: Expected;
  readonly call: () => PromiseLike<unknown>;
}

const json = (value: unknown): string => JSON.stringify(value);
const fenceOf = async (accountId: string) =>
  (
    await database.owner<{ epoch: number; version: number; state: Record<string, unknown> }[]>`
  select owner_epoch as epoch, version, state from account where account_id = ${accountId}`
  )[0]!;

/** A batch under our own account's good fence, with whatever rows besides. */
async function append(
  rows: Record<string, readonly object[]>,
  more: { events?: number; state?: object } = {},
  accountId: string = ours.live,
): Promise<unknown> {
  const { epoch, version, state } = await fenceOf(accountId);
  const batch = {
    accounts: [
      {
        account_id: accountId,
        owner_epoch: epoch,
        version,
        events: more.events ?? 0,
        state: { ...state, ...more.state },
      },
    ],
    ...rows,
  };
  return database.sql`select append_accounts(${json(batch)}::text::jsonb)`;
}

const theirAddress = () => ({ ...addressColumns(addressRow(theirs.live)), account_id: theirs.live });
const addressColumns = (row: AddressRow) => ({
  account_id: row.accountId,
  id: row.id,
  environment: 'live',
  chain: row.chain,
  family: row.family,
  address: row.address,
  address_key: row.addressKey,
  derivation_path: row.derivationPath,
  purpose: row.purpose,
  index: row.index,
  user_ref: 'u',
  tag: null,
  label: null,
  status: 'active',
  created_at: new Date(NOW_MS).toISOString(),
});
const block = (ledger: string, record: object) =>
  database.sql`select record_block(${ledger}, ${json(record)}::text::jsonb)`;
const reorg = (fork: object, oldHead: object, branch: object[]) => database.sql`
  select record_reorg('eth', ${json(fork)}::text::jsonb, ${json(oldHead)}::text::jsonb, ${json(branch)}::text::jsonb)`;
const mature = (confirmations: number | null) => database.sql`
  select mature_facts('eth', ${json([{ txid: '0xpaid', outputIndex: -1, blockHash: 'a101', confirmations }])}::text::jsonb)`;
const after = (parent: { height: number; hash: string }) => linksAfter(parent, 1, 'x')[0]!;
const deadFact = {
  kind: 'withdrawal_dead',
  withdrawalId: 'txn_none',
  txid: '0x',
  height: 1,
  blockHash: 'b',
  success: false,
  reason: 'dead',
  fee: null,
};
/** One row of every table that a batch may have, of another account. */
const BATCH_TABLES = [
  'events',
  'addresses',
  'address_statuses',
  'identities',
  'pool_addresses',
  'account_keys',
  'deposits',
  'ledger_entries',
  'withdrawals',
  'withdrawal_statuses',
  'webhooks',
  'publications',
  'replays',
  'inbox_taken',
  'idempotency',
  'billables',
  'billable_changes',
  'address_peaks',
  'statements',
  'collections',
  'payment_links',
  'payments',
  'checkout_addresses',
  'payment_transfers',
  'payment_entries',
  'invoices',
  'payments_expired',
  'payments_retired',
  'imports_reserved',
  'imports_opened',
  'imports_undone',
  'projects_cut_over',
  'sandbox_resets',
  'sandbox_resets_begun',
];

const ATTACKS: Readonly<Record<string, readonly Attack[]>> = {
  begin_import_check: [
    {
      name: 'a batch of nobody',
      expected: 'nothing',
      call: () =>
        database.sql`
          select 1 where begin_import_check(${theirs.live}, 'imp_none', 'dry_x', now(), 3) = 'begun'`,
    },
  ],
  begin_import_attempt: [
    {
      name: 'a run that the batch is not in',
      expected: 'nothing',
      call: () => database.sql`select 1 where begin_import_attempt(${theirs.live}, 'imp_none', 'dry_x') is not null`,
    },
  ],
  stage_import: [
    {
      name: 'rows of an attempt that is not the newest one',
      expected: 'nothing',
      call: () =>
        database.sql`select 1 where stage_import(${theirs.live}, 'imp_none', 1, '[{"n": 1, "line": 1}]', '[]')`,
    },
  ],
  report_skips: [
    {
      name: 'issues of a batch that there is none of',
      expected: 'nothing',
      call: () => database.sql`select report_skips(${theirs.live}, 'imp_none', 1, 10)`,
    },
  ],
  move_import: [
    {
      name: 'a batch that there is none of, to a state that is a commit',
      expected: 'nothing',
      call: () =>
        database.sql`select move_import(${theirs.live}, 'imp_none', '{valid}'::text[], '{"state": "committed"}'::jsonb)`,
    },
  ],
  check_import: [
    {
      name: 'rows of a batch that there is none of',
      expected: 'nothing',
      call: () => database.sql`select * from check_import(${theirs.live}, 'imp_none', 0, 10)`,
    },
  ],
  fill_import: [
    {
      name: 'a batch that is not at a commit',
      expected: 'nothing',
      call: () => database.sql`select fill_import(${theirs.live}, 'imp_none', 10)`,
    },
  ],
  release_import: [
    {
      name: 'a batch that is not on its way back',
      expected: 'nothing',
      call: () => database.sql`select release_import(${theirs.live}, 'imp_none', 10)`,
    },
  ],
  claim_imports: [
    {
      name: 'work of all accounts',
      expected: { open: 'which batches were left; their work changes nothing that it does twice' },
      call: () => database.sql`select * from claim_imports(10)`,
    },
  ],
  claim_scans: [
    {
      name: 'scans of all accounts',
      expected: {
        open: 'which scans are due; what they read is public, and a window that is read twice comes to the same',
      },
      call: () => database.sql`select * from claim_scans(10)`,
    },
  ],
  decide_import_review: [
    {
      name: 'a review that is not there, and a decision that is none',
      expected: 'nothing',
      call: () => database.sql`select decide_import_review('rvw_none', 'dropped', 'usr_x')`,
    },
  ],
  claims_of_review: [
    {
      name: 'rows of a review',
      expected: { open: 'whose addresses an import met; the application shows it to administrators alone' },
      call: () => database.sql`select * from claims_of_review('rvw_none', 0, 10)`,
    },
  ],
  forget_staged: [
    {
      name: 'rows of batches that were validated just now',
      expected: 'nothing',
      call: () => database.sql`select forget_staged(now() + interval '1 year', 10)`,
    },
  ],
  forget_scans: [
    {
      name: 'scans that ended just now',
      expected: 'nothing',
      call: () => database.sql`select forget_scans(now() + interval '1 year', 10)`,
    },
  ],
  append_accounts: [
    ...BATCH_TABLES.map((table): Attack => ({
      name: `a row of another account in ${table}`,
      expected: { refused: 'batch_row_of_account' },
      call: () => append({ [table]: [table === 'addresses' ? theirAddress() : { account_id: theirs.live }] }),
    })),
    {
      name: 'a row of nobody',
      expected: { refused: 'batch_row_of_account' },
      call: () => append({ publications: [{ event_id: 'evt_x' }] }),
    },
    {
      name: 'an account twice',
      expected: { refused: 'batch_account_once' },
      call: async () => {
        const { epoch, version, state } = await fenceOf(ours.live),
          entry = { account_id: ours.live, owner_epoch: epoch, version, events: 0, state };
        return database.sql`select append_accounts(${json({ accounts: [entry, entry] })}::text::jsonb)`;
      },
    },
    {
      name: 'a version that moves without events',
      expected: { refused: 'account_version_by_events' },
      call: () => append({}, { events: 3 }),
    },
    {
      name: 'an event that moves no version',
      expected: { refused: 'account_version_by_events' },
      call: async () =>
        append({
          events: [
            { account_id: ours.live, version: (await fenceOf(ours.live)).version + 1, body: { type: 'sandbox_reset' } },
          ],
        }),
    },
    {
      name: 'an event of a later version',
      expected: { refused: 'account_version_by_events' },
      call: async () =>
        append(
          {
            events: [
              {
                account_id: ours.live,
                version: (await fenceOf(ours.live)).version + 2,
                body: { type: 'sandbox_reset' },
              },
            ],
          },
          { events: 1 },
        ),
    },
    {
      name: 'more addresses than the plan has',
      expected: { refused: 'account_address_cap' },
      call: () =>
        append(
          { addresses: [addressColumns(addressRow(ours.live))] },
          { state: { plan: { tier: 'free', band: 'launch' }, activeAddresses: 101 } },
        ),
    },
    {
      name: 'another epoch',
      expected: 'nothing',
      call: async () => {
        const { epoch, version, state } = await fenceOf(ours.live);
        return database.sql`select append_accounts(${json({ accounts: [{ account_id: ours.live, owner_epoch: epoch + 1, version, events: 0, state: { ...state, suspended: true } }] })}::text::jsonb)`;
      },
    },
    {
      name: 'a reset of a live account',
      expected: { refused: 'reset_only_sandbox' },
      call: () => append({ sandbox_resets: [{ account_id: ours.live }] }),
    },
    {
      name: 'the mark of one',
      expected: { refused: 'reset_only_sandbox' },
      call: () => append({ sandbox_resets_begun: [{ account_id: ours.live }] }),
    },
  ],
  find_checkout: [
    {
      name: "another account's slug or payment",
      expected: {
        open: 'who pays has no credential: whose it is says only which public view is read, and no answer names it',
      },
      call: () => database.sql`select * from find_checkout('none', 'pay_none')`,
    },
  ],
  checkout_marks: [
    {
      name: "another account's payment",
      expected: { open: 'who pays has no credential: a mark says that something changed, and nothing of what' },
      call: () => database.sql`select * from checkout_marks('{pay_none}')`,
    },
  ],
  find_invoice: [
    {
      name: "another account's invoice",
      expected: { open: 'who has the token of an invoice may read it: its hash names what is read' },
      call: () => database.sql`select * from find_invoice('none')`,
    },
  ],
  mint_invoice_link: [
    {
      name: 'a letter that there is none of',
      expected: 'nothing',
      call: () => database.sql`select mint_invoice_link('none', ${'0'.repeat(64)}, now())`,
    },
  ],
  resend_invoice: [
    {
      name: 'an invoice that there is none of',
      expected: 'nothing',
      call: () =>
        database.sql`select resend_invoice(${theirs.live}, 'inv_none', ${'0'.repeat(64)}, 'none', 'none', now(), 5, 3600,
          null, '[]')`,
    },
  ],
  expire_payments: [
    {
      name: "everybody's payments",
      expected: { open: 'only what has no money and whose time is over by the database’s clock; no money moves' },
      call: () => database.sql`select expire_payments('infinity', 10)`,
    },
  ],
  expire_ended: [
    {
      name: "everybody's payments",
      expected: { open: 'only payments without money of links that their accounts closed, or of a retired identity' },
      call: () => database.sql`select expire_ended(10, '{}')`,
    },
  ],
  forget_resting: [
    {
      name: "everybody's addresses",
      expected: { open: 'only rows of identities that are retired, which are lent to nobody any more' },
      call: () => database.sql`select forget_resting(10)`,
    },
  ],
  walk_unused: [
    {
      name: "everybody's indexes",
      expected: { open: 'a walk over them and its figure: the account that it was at, and nothing of it' },
      call: () => database.sql`select * from walk_unused('', 10, '-infinity')`,
    },
  ],
  links_due: [
    {
      name: "everybody's links",
      expected: { open: 'ids of links whose date has come: their accounts close them' },
      call: () => database.sql`select * from links_due(now(), '-infinity', '', '', 10)`,
    },
  ],
  links_retired: [
    {
      name: "everybody's links",
      expected: { open: 'ids of shared links that wait for an address: their accounts lend it' },
      call: () => database.sql`select * from links_retired('-infinity', '', '', 10)`,
    },
  ],
  keep_attestations: [
    {
      name: 'another account',
      expected: { open: 'statements that the gateway verified against the identity that the account pins' },
      call: () => database.sql`
        select keep_attestations('none', 'evm', ${'0'.repeat(64)}, now(), now(), '{}', '{}', '{}')`,
    },
  ],
  erase_payers: [
    {
      name: "everybody's payments",
      expected: { open: 'only who opened a payment that never had money and expired before the given clock' },
      call: () => database.sql`select erase_payers('-infinity', 10)`,
    },
  ],
  links_monitored: [
    {
      name: "everybody's links",
      expected: { open: 'ids of closed links whose addresses were reported long enough: their accounts archive them' },
      call: () => database.sql`select * from links_monitored(now(), '-infinity', '', '', 10)`,
    },
  ],
  release_link: [
    {
      name: 'a link that is not closed, or is not there',
      expected: { open: 'nothing is released that has no closed link whose time of reports is over' },
      call: () => database.sql`select release_link('none', 'lnk_none', now())`,
    },
  ],
  load_account: [
    {
      name: 'an epoch that the shard never had',
      expected: 'nothing',
      call: () => database.sql`select * from load_account(${theirs.live}, 999999)`,
    },
    {
      name: 'an older epoch',
      expected: 'nothing',
      call: () => database.sql`select * from load_account(${theirs.live}, 0)`,
    },
  ],
  activate_account: [
    {
      name: 'an epoch that the shard never had',
      expected: 'nothing',
      call: () => database.sql`select * from activate_account(${theirs.live}, 999999, now())`,
    },
    {
      name: 'an older epoch',
      expected: 'nothing',
      call: () => database.sql`select * from activate_account(${theirs.live}, 0, '-infinity')`,
    },
  ],
  claim_shards: [
    {
      name: "everybody's shards",
      expected: { open: 'claiming is how a node begins; the epoch is minted here and fences the one before' },
      call: () => database.sql`select 1`,
    },
  ],
  claim_vacant_shards: [
    {
      name: 'shards whose owner is there',
      expected: 'nothing',
      call: () => database.sql`select claim_vacant_shards('intruder', 1000)`,
    },
    {
      name: 'a node that never said it was there',
      expected: 'nothing',
      call: () => database.sql`select claim_vacant_shards('nobody', 0)`,
    },
  ],
  renew_node: [
    { name: 'another name', expected: 'nothing', call: () => database.sql`select renew_node('intruder', 0)` },
  ],
  cluster_id: [
    {
      name: 'another name for the database',
      expected: { open: 'the first name stays, whoever asks' },
      call: () => database.sql`select cluster_id('other')`,
    },
  ],
  join_cluster: [
    {
      name: 'a node without a secret of the cluster',
      expected: 'nothing',
      async call() {
        await database.sql`select cluster_id('this')`;
        await database.sql`select join_cluster('first', 'http://first', '{}', array['proof'])`;
        return database.sql`select 1 from join_cluster('intruder', 'http://intruder', '{}', array['guess']) where accepted`;
      },
    },
  ],
  beat_node: [{ name: 'another name', expected: 'nothing', call: () => database.sql`select beat_node('intruder', 0)` }],
  owner_map: [
    {
      name: 'who owns what',
      expected: { open: 'every node reads it; it holds no account' },
      call: () => database.sql`select * from owner_map(10)`,
    },
  ],
  claim_released_shards: [
    {
      name: 'shards whose owner is there',
      expected: 'nothing',
      call: () => database.sql`select claim_released_shards('intruder', array[0, 1], 1000)`,
    },
    {
      name: 'a node that never said it was there',
      expected: 'nothing',
      call: () => database.sql`select claim_released_shards('nobody', array[0, 1], 0)`,
    },
  ],
  release_shards: [
    {
      name: "another node's shards",
      expected: 'nothing',
      call: () => database.sql`select release_shards('intruder', array[0, 1])`,
    },
  ],
  claim_chains: [
    {
      name: 'a node that never said it was there',
      expected: 'nothing',
      call: () => database.sql`select claim_chains('nobody', array['eth'], 0)`,
    },
  ],
  release_chains: [
    {
      name: "another node's chains",
      expected: 'nothing',
      call: () => database.sql`select release_chains('intruder', array['eth'])`,
    },
  ],
  list_nodes: [
    {
      name: 'the nodes',
      expected: { open: 'every node reads them; they hold no account' },
      call: () => database.sql`select * from list_nodes(10)`,
    },
  ],
  describe_node: [
    {
      name: 'a node that is not there',
      expected: 'nothing',
      call: () => database.sql`select describe_node('nobody', '{}')`,
    },
  ],
  leave_node: [
    { name: 'a node that is not there', expected: 'nothing', call: () => database.sql`select leave_node('nobody')` },
  ],
  record_block: [
    {
      name: 'a lower block',
      expected: { refused: 'branch_is_linked' },
      call: () => block('eth', { ...recordOf({ ...after(HEAD), height: 50 }), previous: HEAD }),
    },
    {
      name: 'a block of another parent',
      expected: { refused: 'branch_is_linked' },
      call: () => block('eth', { ...recordOf({ ...after(HEAD), parentHash: 'else' }), previous: HEAD }),
    },
    {
      name: 'over a gap',
      expected: { refused: 'branch_is_linked' },
      call: () => block('eth', { ...recordOf(after({ height: 200, hash: 'a200' })), previous: HEAD }),
    },
    { name: 'behind the cursor', expected: 'nothing', call: () => block('eth', recordOf(B103)) },
    {
      name: 'a second beginning',
      expected: 'nothing',
      call: () => block('eth', recordOf(after({ height: 1, hash: 'x1' }), [], { previous: null })),
    },
    {
      name: 'a sandbox ledger pays a live account',
      expected: { refused: 'fact_ledger_of_account' },
      call: () => {
        const link = after({ height: 6, hash: 'x6' }),
          ledger = `bsc@${ours.sandbox}` as const;
        return block(ledger, recordOf(link, [transferTo(own, link, { ledger })], { previous: null }));
      },
    },
    {
      name: 'a sandbox ledger pays another sandbox',
      expected: { refused: 'fact_ledger_of_account' },
      call: () => {
        const link = after({ height: 6, hash: 'x6' }),
          ledger = `bsc@${theirs.sandbox}` as const;
        return block(ledger, recordOf(link, [transferTo(simulated, link, { ledger })], { previous: null }));
      },
    },
    {
      name: 'a live ledger pays a sandbox',
      expected: { refused: 'fact_ledger_of_account' },
      call: () => block('eth', recordOf(after(HEAD), [transferTo(simulated, after(HEAD), { ledger: 'eth' })])),
    },
    {
      name: 'a transfer told of another ledger',
      expected: { refused: 'fact_ledger_of_account' },
      call: () => block('eth', recordOf(after(HEAD), [transferTo(own, after(HEAD), { ledger: 'bsc' })])),
    },
    {
      name: 'an address of another account',
      expected: { refused: 'fact_pays_issued_address' },
      call: () => block('eth', recordOf(after(HEAD), [{ ...transferTo(own, after(HEAD)), accountId: theirs.live }])),
    },
    {
      name: 'an address that nobody was issued',
      expected: { refused: 'fact_pays_issued_address' },
      call: () => block('eth', recordOf(after(HEAD), [transferTo(addressRow(ours.live), after(HEAD))])),
    },
    {
      name: 'a transfer of another block',
      expected: { refused: 'fact_in_recorded_block' },
      call: () => block('eth', recordOf(after(HEAD), [transferTo(own, after({ height: 900, hash: 'x900' }))])),
    },
    {
      name: 'a withdrawal of another account',
      expected: { refused: 'fact_of_withdrawal' },
      call: () =>
        block(
          'eth',
          recordOf(after(HEAD), [], {
            withdrawals: [
              { accountId: ours.live, fact: { ...deadFact, kind: 'withdrawal_included', withdrawalId: sent.id } },
            ] as never,
          }),
        ),
    },
  ],
  record_reorg: [
    {
      name: 'a fork that was never recorded',
      expected: { refused: 'fork_was_recorded' },
      call: () => reorg({ height: 102, hash: 'never' }, HEAD, [recordOf(after({ height: 102, hash: 'never' }))]),
    },
    {
      name: 'an empty branch below the first block',
      expected: { refused: 'fork_was_recorded' },
      call: () => reorg({ height: 90, hash: 'z90' }, HEAD, []),
    },
    {
      name: 'a branch that begins below the first block',
      expected: { refused: 'fork_was_recorded' },
      call: () =>
        reorg(
          { height: 90, hash: 'z90' },
          HEAD,
          linksAfter({ height: 90, hash: 'z90' }, 20, 'z').map((link) => recordOf(link)),
        ),
    },
    {
      name: 'a fork above the head',
      expected: { refused: 'fork_was_recorded' },
      call: () => reorg({ height: 700, hash: 'x' }, HEAD, []),
    },
    {
      name: 'a branch with a gap',
      expected: { refused: 'branch_is_linked' },
      call: () =>
        reorg({ height: 102, hash: 'a102' }, HEAD, [
          recordOf({ ...after({ height: 110, hash: 'x' }), parentHash: 'a102' }),
        ]),
    },
    {
      name: 'a branch that turns back',
      expected: { refused: 'branch_is_linked' },
      call: () =>
        reorg({ height: 102, hash: 'a102' }, HEAD, [recordOf({ ...after({ height: 102, hash: 'a102' }), height: 90 })]),
    },
    {
      name: 'an old head that is not the cursor',
      expected: 'nothing',
      call: () => reorg({ height: 102, hash: 'a102' }, { height: 104, hash: 'a104' }, []),
    },
  ],
  resolve_height: [
    {
      name: 'a height that is not open',
      expected: 'nothing',
      call: () =>
        database.sql`select resolve_height('eth', ${json(recordOf(B103, [transferTo(own, B103)]))}::text::jsonb)`,
    },
  ],
  record_late: [
    {
      name: 'a hash that was not recorded',
      expected: 'nothing',
      call: () => database.sql`select record_late('eth', 103, 'x103', ${json([transferTo(own, B103)])}::text::jsonb)`,
    },
    {
      name: 'an address of another account',
      expected: { refused: 'fact_pays_issued_address' },
      call: () =>
        database.sql`select record_late('eth', 103, 'a103', ${json([{ ...transferTo(own, B103), accountId: theirs.live }])}::text::jsonb)`,
    },
    {
      name: 'a sandbox account',
      expected: { refused: 'fact_ledger_of_account' },
      call: () =>
        database.sql`select record_late('eth', 103, 'a103', ${json([transferTo(simulated, B103, { ledger: 'eth' })])}::text::jsonb)`,
    },
  ],
  retell_block: [
    {
      name: 'a hash that was not recorded',
      expected: 'nothing',
      call: () => database.sql`select retell_block('eth', 103, 'x103', ${json([transferTo(own, B103)])}::text::jsonb)`,
    },
    {
      name: 'an address of another account',
      expected: { refused: 'fact_pays_issued_address' },
      call: () =>
        database.sql`select retell_block('eth', 103, 'a103', ${json([{ ...transferTo(own, B103), accountId: theirs.live }])}::text::jsonb)`,
    },
  ],
  mature_facts: [
    { name: 'at 1 of 12', expected: 'nothing', call: () => mature(1) },
    { name: 'without a depth', expected: 'nothing', call: () => mature(null) },
    { name: 'deeper than the head that was noted', expected: 'nothing', call: () => mature(12) },
  ],
  refute_facts: [
    {
      name: 'in another block',
      expected: 'nothing',
      call: () =>
        database.sql`select refute_facts('eth', ${json([{ txid: '0xpaid', outputIndex: -1, blockHash: 'else' }])}::text::jsonb)`,
    },
  ],
  note_withdrawal_fact: [
    {
      name: 'a withdrawal of another account',
      expected: { refused: 'fact_of_withdrawal' },
      call: () =>
        database.sql`select note_withdrawal_fact(${ours.live}, ${json({ ...deadFact, withdrawalId: sent.id })}::text::jsonb)`,
    },
    {
      name: 'a deposit in its place',
      expected: { refused: 'fact_of_withdrawal' },
      call: () =>
        database.sql`select note_withdrawal_fact(${theirs.live}, ${json({ kind: 'matured', withdrawalId: sent.id, deposit: {} })}::text::jsonb)`,
    },
  ],
  begin_chain: [
    {
      name: 'a later beginning than the one that is known',
      expected: 'nothing',
      call: async () => {
        await database.sql`select begin_chain('sol', ${NOW_MS}::timestamptz)`;
        await database.sql`select begin_chain('sol', ${NOW_MS + 1}::timestamptz)`;
        const [row] = await database.owner<{ since: number }[]>`select since from chain_start where ledger = 'sol'`;
        if (row!.since !== NOW_MS) throw new Error('the beginning moved');
      },
    },
  ],
  note_chain_start: [
    {
      name: 'a height above the one that is known',
      expected: 'nothing',
      call: async () => {
        await database.sql`select note_chain_start('sol', 50)`;
        const [row] = await database.sql<{ height: number }[]>`select note_chain_start('sol', 5000) as height`;
        if (row!.height !== 50) throw new Error('the beginning rose: what was paid before it would never be read');
      },
    },
  ],
  forget_idempotent: [
    {
      name: 'an answer that is about something else',
      expected: 'nothing',
      call: () => database.sql`select forget_idempotent(${theirs.live}, 'POST', '/v1/addresses', 'taken', 'txn_else')`,
    },
  ],
  note_unresolved: [
    {
      name: 'a height that is not open',
      expected: 'nothing',
      call: () => database.sql`select note_unresolved('eth', 103, 'x')`,
    },
  ],
  reopen_height: [
    {
      name: 'a block that was never recorded',
      expected: 'nothing',
      call: async () => {
        await database.sql`select reopen_height('eth', 103, 'another', 'because')`;
        const rows = await database.owner`select 1 from unresolved_height where ledger = 'eth'`;
        if (rows.length > 0) throw new Error('a height is unresolved');
      },
    },
  ],
  record_origins: [
    {
      name: 'an address that was issued, and one of another account',
      expected: 'nothing',
      call: async () => {
        const found = json([own, foreign].map(({ addressKey: key }) => ({ key, path: `[${'a'.repeat(16)}]` })));
        await database.sql`select record_origins(${ours.live}, 'ks_1', '{}', ${found}::text::jsonb)`;
        const rows = await database.owner`select 1 from address_origin`;
        if (rows.length > 0) throw new Error('it has an origin');
      },
    },
    {
      name: 'a path of the own phrase',
      expected: { refused: 'address_origin_path' },
      call: async () => {
        const found = json([{ key: taken.addressKey, path: "m/44'/60'/0'/0/0" }]);
        await database.sql`select record_origins(${ours.live}, 'ks_1', '{}', ${found}::text::jsonb)`;
      },
    },
  ],
  note_heard: [
    {
      name: 'heard in the future',
      expected: 'nothing',
      call: async () => {
        await database.sql`select note_head('xlm', 5, clock_timestamp())`;
        await database.sql`select note_heard('xlm', clock_timestamp() + interval '1 hour')`;
        const [row] =
          await database.owner`select heard_at <= clock_timestamp() as honest from chain_head where ledger = 'xlm'`;
        if (row!.honest !== true) throw new Error('a node was heard in the future');
      },
    },
  ],
  note_head: [
    {
      name: 'seen in the future',
      expected: 'nothing',
      call: async () => {
        await database.sql`select note_head('xrp', 5, clock_timestamp() + interval '1 hour')`;
        const [row] =
          await database.owner`select at <= clock_timestamp() as honest from chain_head where ledger = 'xrp'`;
        if (row!.honest !== true) throw new Error('a head was noted in the future');
      },
    },
    {
      name: 'further ahead than any chain mines',
      expected: 'nothing',
      call: async () => {
        await database.sql`select note_head('btc', 5, clock_timestamp())`;
        await database.sql`select note_head('btc', 900000000, clock_timestamp())`;
        const [row] = await database.owner<{ height: number }[]>`select height from chain_head where ledger = 'btc'`;
        if (row!.height !== 5) throw new Error('a head was noted that cannot be');
      },
    },
  ],
  record_attempts: [
    {
      name: 'a delivery of another account',
      expected: 'nothing',
      call: () =>
        database.sql`select record_attempts(${json([{ account_id: ours.live, delivery_id: held.id, attempt: 1, status_code: 410, duration_ms: 1, error: null, attempted_at: new Date(NOW_MS).toISOString(), status: 'delivered', next_attempt_at: null, disable_endpoint: true, posted_to: null }])}::text::jsonb)`,
    },
  ],
  claim_deliveries: [
    {
      name: 'of an account that does not exist',
      expected: 'nothing',
      call: () =>
        database.sql`select * from claim_deliveries(array['org_none_live'], 10, now(), now() + interval '1 minute', '{}')`,
    },
  ],
  claim_in_order: [
    {
      name: 'with an epoch that the shard has no more',
      expected: 'nothing',
      async call() {
        const { epoch } = await fenceOf(theirs.live);
        const due =
          await database.sql`select * from claim_in_order(array[${theirs.live}], array[${epoch - 1}::bigint], 10, now() + interval '1 year', now() + interval '2 years', '{}', null)`;
        if (due.length > 0) throw new Error('claimed by a node that was the owner');
      },
    },
  ],
  claim_owned_deliveries: [
    {
      name: 'with an epoch that the shard has no more',
      expected: 'nothing',
      async call() {
        const { epoch } = await fenceOf(theirs.live);
        const due =
          await database.sql`select * from claim_owned_deliveries(array[${theirs.live}], array[${epoch - 1}::bigint], 10, now() + interval '1 year', now() + interval '2 years', '{}')`;
        if (due.length > 0) throw new Error('claimed by a node that was the owner');
      },
    },
  ],
  release_deliveries: [
    { name: "nobody's", expected: 'nothing', call: () => database.sql`select release_deliveries(array['dlv_none'])` },
  ],
  release_claimed: [
    {
      name: 'a claim that ended, of which there is another now',
      expected: 'nothing',
      call: () => database.sql`select release_claimed(array[${held.id}], array['2020-01-01Z'::timestamptz])`,
    },
  ],
  release_claims: [
    {
      name: 'claims of a node that is there',
      expected: { open: 'given back early they are sent again; the edge leaves out what it has' },
      call: () => database.sql`select 1`,
    },
  ],
  release_former_claims: [
    {
      name: 'of shards that the node does not own',
      expected: 'nothing',
      call: () =>
        database.sql`select * from release_former_claims('nobody', array(select generate_series(0, 1023)), 5000, '', '', null, null)`,
    },
  ],
  release_abandoned_claims: [
    {
      name: 'claims of a node that is there',
      expected: { open: 'given back early they are sent again; the edge leaves out what it has' },
      call: () => database.sql`select 1`,
    },
  ],
  hold_unreadable: [
    {
      name: 'secrets that its endpoint does not have',
      expected: 'nothing',
      call: () => database.sql`select hold_unreadable(${json([{ id: held.id, sealed: ['else'] }])}::text::jsonb)`,
    },
  ],
  release_unreadable: [
    {
      name: 'an endpoint of another account',
      expected: 'nothing',
      call: () => database.sql`select release_unreadable(${ours.live}, ${held.webhookId})`,
    },
  ],
  reseal_webhook: [
    {
      name: 'an endpoint of another account',
      expected: 'nothing',
      call: () => database.sql`select reseal_webhook(${ours.live}, ${held.webhookId}, array['sealed'], array['mine'])`,
    },
    {
      name: 'without knowing what is sealed',
      expected: 'nothing',
      call: () => database.sql`select reseal_webhook(${theirs.live}, ${held.webhookId}, array['guess'], array['mine'])`,
    },
  ],
  create_organization: [
    {
      name: 'over an organization that is there',
      expected: { refused: 'organization_pkey' },
      call: () =>
        database.sql`select create_organization(${json({ id: theirs.organizationId, name: 'x', created_at: new Date(NOW_MS).toISOString() })}::text::jsonb, ${ours.userId}, '[]'::jsonb)`,
    },
    {
      name: 'with an account of another one',
      expected: { refused: 'account_id_form' },
      call: () =>
        database.sql`select create_organization(${json({ id: 'org_fresh', name: 'x', created_at: new Date(NOW_MS).toISOString() })}::text::jsonb, ${ours.userId}, ${json([{ account_id: 'org_else_live', environment: 'live', shard_id: 1, state: {} }])}::text::jsonb)`,
    },
  ],
  record_audit: [
    {
      name: 'in the log of an organization that is none, and with a number, instant and name of its own',
      expected: 'nothing',
      call: () =>
        database.sql`select record_audit(${json([{ organizationId: 'org_none', seq: 9, at: 9, actor: {} }])}::text::jsonb)`,
    },
    {
      name: 'without an action',
      expected: { refused: 'audit_entry_text' },
      call: () =>
        database.sql`select record_audit(${json([{ organizationId: theirs.organizationId, outcome: 'done', actor: {} }])}::text::jsonb)`,
    },
  ],
  record_audit_of_user: [
    {
      name: 'of a user that there is none of',
      expected: 'nothing',
      call: () =>
        database.sql`select record_audit_of_user('usr_none', ${json({ action: 'login', outcome: 'done' })}::text::jsonb)`,
    },
  ],
  wipe_step: [
    {
      name: 'of an account whose wipe nobody asked for',
      expected: 'nothing',
      call: () => database.sql`select wipe_step(${theirs.live}, 1000)`,
    },
  ],
  due_wipes: [
    {
      name: 'of all accounts',
      expected: { open: 'when a wipe is due is no secret of its account to a node' },
      call: () => database.sql`select * from due_wipes(now(), '', 9)`,
    },
  ],
  write_wipe_letters: [
    {
      name: 'letters about wipes that nobody asked for',
      expected: 'nothing',
      call: () => database.sql`select write_wipe_letters(now())`,
    },
  ],
  trim_audit: [
    {
      name: 'texts of a log that keeps them, as a tier says that keeps none',
      expected: 'nothing',
      async call() {
        await stores.auditLog.record({
          ...{
            organizationId: theirs.organizationId,
            actor: { kind: 'user', id: null },
            via: 'console',
            action: 'login',
          },
          ...{ target: null, outcome: 'done', changes: null, ip: null, client: null, requestId: null },
        });
        await database.sql`select trim_audit('', ${json({ free: 1, premium: 1, ultimate: 1 })}::text::jsonb, 9, 9)`;
        const [kept] =
          await database.owner`select text from audit_entry where organization_id = ${theirs.organizationId}`;
        if (kept?.['text'] == null) throw new Error('the text is gone');
      },
    },
  ],
  count_audit_total: [
    {
      name: 'a side that there is none of',
      expected: { refused: 'audit_total_side' },
      call: () => database.sql`select count_audit_total('eth', 'credited', 'x', 9, 9)`,
    },
    {
      name: 'what nobody has',
      expected: { open: 'a row of nothing; sums are made of rows alone' },
      async call() {
        for (let n = 0; n < 3; n += 1) await database.sql`select count_audit_total('eth', 'sent', 'nobody', 9, 9)`;
        const [total] = await database.owner`select sums from audit_total where subject = 'nobody'`;
        if (JSON.stringify(total?.['sums']) !== '{}') throw new Error('a sum without rows');
      },
    },
  ],
  recount_audit_total: [
    {
      name: 'of a ledger that there is none of',
      expected: 'nothing',
      call: () => database.sql`select * from recount_audit_total('none', 9)`,
    },
  ],
  save_idempotent: [
    {
      name: 'over an answer that is there',
      expected: 'nothing',
      call: () => database.sql`select save_idempotent(${json(answerOf('taken', 500))}::text::jsonb)`,
    },
  ],
  purge_idempotent: [
    {
      name: 'answers of today',
      expected: 'nothing',
      call: () => database.sql`select purge_idempotent(clock_timestamp() + interval '1 year')`,
    },
  ],
  purge_deliveries: [
    {
      name: 'deliveries of this week',
      expected: 'nothing',
      call: () => database.sql`select purge_deliveries(clock_timestamp() + interval '1 year', 1000)`,
    },
  ],
  purge_publications: [
    {
      name: 'bodies of this month',
      expected: 'nothing',
      call: async () => {
        await database.sql`select purge_publications(clock_timestamp() + interval '1 year', 1000, null, null)`;
        const [row] =
          await database.owner`select count(*) filter (where body is null and created_at > clock_timestamp() - interval '30 days') as gone from publication`;
        if (row!.gone !== 0) throw new Error('a body that may still be delivered went');
      },
    },
  ],
  resume_held: [
    { name: 'without a project that resumes', expected: 'nothing', call: () => database.sql`select resume_held(1000)` },
  ],
  project_holding: [
    {
      name: "another account's address",
      expected: 'nothing',
      call: () => database.sql`select project_holding(${theirs.live}, 'address')`,
    },
  ],
  work_backlog: [
    { name: 'without a backlog', expected: 'nothing', call: () => database.sql`select work_backlog(1000)` },
  ],
  drop_attempt_partitions: [
    {
      name: 'months that are used',
      expected: 'nothing',
      call: () => database.sql`select drop_attempt_partitions('2020-01-01')`,
    },
  ],
  ensure_attempt_partitions: [
    {
      name: 'a thousand months',
      expected: 'nothing',
      call: async () => {
        const [row] = await database.sql<
          { made: number }[]
        >`select ensure_attempt_partitions('2090-01-01', 1000) as made`;
        if (row!.made > 37) throw new Error('more partitions than anybody needs');
      },
    },
  ],
  save_instructions: [
    {
      name: 'a transaction of another account',
      expected: 'nothing',
      call: async () => {
        const rows =
          await database.sql`select * from save_instructions(${ours.live}, ${json([{ id: sent.id, asked_at: new Date(NOW_MS).toISOString(), record: '{}' }])}::text::jsonb, 10)`;
        if (rows[0]?.reason !== 'unknown') throw new Error('it was kept');
      },
    },
  ],
  set_aside_fact: [
    {
      name: 'a fact of another account',
      expected: 'nothing',
      call: () =>
        database.sql`select set_aside_fact(${theirs.live}, (select min(id) from generate_series(1, 1) id), 'x', 1, 1)`,
    },
  ],
  retry_facts: [
    {
      name: 'a fact that waits for nothing',
      expected: 'nothing',
      call: () => database.sql`select * from retry_facts(${ours.live}, 1)`,
    },
  ],
  write_statement_letters: [
    {
      name: 'statements that are not issued yet',
      expected: 'nothing',
      call: () =>
        database.sql`
          select written from write_statement_letters('2020-01-01', '[{"kind": "statement_issued", "hours": 0}]') written
           where written > 0`,
    },
  ],
  ring_collection_request: [
    {
      name: 'a reference of nobody',
      expected: 'nothing',
      call: () => database.sql`select 1 from ring_collection_request('stripe', 'in_of_nobody', now())`,
    },
  ],
  write_collection_request: [
    {
      name: 'a statement that is not there',
      expected: 'nothing',
      call: () =>
        database.sql`
          select 1 where write_collection_request(${theirs.live}, 'stm_none', 0, '{"status": "open", "round": 1}', now())`,
    },
  ],
  claim_mail: [
    {
      name: 'mail that is not due',
      expected: 'nothing',
      call: () => database.sql`select * from claim_mail('2020-01-01', '2020-01-02', 10)`,
    },
  ],
  claim_job: [
    {
      name: 'a job that another node has',
      expected: 'nothing',
      async call() {
        await database.sql`select * from claim_job('of another', 'other', 86400, 60)`;
        return database.sql`select * from claim_job('of another', 'intruder', 86400, 60)`;
      },
    },
    {
      name: 'a job whose work is done',
      expected: 'nothing',
      async call() {
        const [row] = await database.sql`select * from claim_job('done', 'other', 86400, 60)`;
        await database.sql`select end_job('done', 'other', ${row!['periodAt']}::timestamptz, null)`;
        return database.sql`select * from claim_job('done', 'intruder', 86400, 60)`;
      },
    },
  ],
  renew_job: [
    {
      name: "another node's claim",
      expected: 'nothing',
      async call() {
        await database.sql`select * from claim_job('of another', 'other', 86400, 60)`;
        return database.sql`select 1 where renew_job('of another', 'intruder', 60)`;
      },
    },
  ],
  end_job: [
    {
      name: "another node's claim",
      expected: 'nothing',
      async call() {
        await database.sql`select * from claim_job('of another', 'other', 86400, 60)`;
        await database.sql`select end_job('of another', 'intruder', now(), null)`;
        return database.sql`select 1 from background_job where name = 'of another' and node is null`;
      },
    },
  ],
  record_mail: [
    {
      name: 'mail of nobody',
      expected: 'nothing',
      call: () => database.sql`select record_mail('evt_none', 'usr_none', now(), null, null)`,
    },
  ],
  record_discrepancy: [
    {
      name: 'a finding',
      expected: { open: 'findings are shown to people and move nothing' },
      call: () => database.sql`select 1`,
    },
  ],
  reset_step: [
    {
      name: 'of an account whose reset nobody began',
      expected: 'nothing',
      call: () => database.sql`select 1 where reset_step(${ours.sandbox}, 1000) is not false`,
    },
  ],
  due_resets: [
    {
      name: 'accounts that are begun anew',
      expected: { open: 'that a sandbox is begun anew is no secret of its account to a node' },
      call: () => database.sql`select * from due_resets('', 9)`,
    },
  ],
  reset_sandbox_ledgers: [
    {
      name: 'a live account',
      expected: { refused: 'reset_only_sandbox' },
      call: () => database.sql`select reset_sandbox_ledgers(${theirs.live})`,
    },
  ],
  sandbox_amend: [
    {
      name: 'a live ledger',
      expected: 'nothing',
      call: () => database.sql`select sandbox_amend('eth', 0, '[]'::jsonb)`,
    },
  ],
  sandbox_mine: [
    {
      name: 'a live ledger',
      expected: { refused: 'sandbox_ledger_form' },
      call: () => database.sql`select sandbox_mine('eth', null, '[]'::jsonb)`,
    },
  ],
  sandbox_unmine: [
    { name: 'a live ledger', expected: 'nothing', call: () => database.sql`select * from sandbox_unmine('eth', 10)` },
  ],
  sandbox_behind: [
    {
      name: 'a mark',
      expected: { open: "a mark goes only where the watchers' cursor is the ledger's head" },
      call: () => database.sql`select 1`,
    },
  ],
  sandbox_ledgers_behind: [
    {
      name: 'a mark',
      expected: { open: "a mark goes only where the watchers' cursor is the ledger's head" },
      call: () => database.sql`select 1`,
    },
  ],
  take_pooled: [
    {
      name: 'a live ledger',
      expected: 'nothing',
      call: async () => {
        const entry = json({
          txid: 'x',
          from: 'a',
          payload: 'x',
          since: new Date(NOW_MS).toISOString(),
          transaction: { nonce: null },
        });
        const [row] = await database.sql`select take_pooled('eth', null, ${entry}::text::jsonb, '{}') as taken`;
        if (row?.taken !== false) throw new Error('it was taken');
      },
    },
  ],
  drop_pooled: [
    { name: 'a live ledger', expected: 'nothing', call: () => database.sql`select drop_pooled('eth', 'x')` },
  ],
  ask_for_token: [
    {
      name: 'a request for another account',
      expected: { open: 'no money: the gateway names the account of its caller, as for every row of sign-in' },
      call: () =>
        database.sql`select * from ask_for_token(${theirs.live}, 'tkr_claim', null, 'eth', '0xclaim', 'T', 6, null, 100, 1000)`,
    },
  ],
  publish_registry: [
    {
      name: 'a version that nobody signed',
      expected: {
        open: 'no node puts a version in force that two registry keys did not sign, and an earlier one holds',
      },
      call: () => {
        const content = '{}',
          hash = createHash('sha256').update(content).digest('hex'),
          signed = json(['a', 'b'].map((digit) => ({ key: digit.repeat(64), signature: digit.repeat(128) })));
        return database.sql`select publish_registry(7, ${content}, ${hash}, '[]', ${signed}::text::jsonb, null, null, null)`;
      },
    },
  ],
  take_unread_reviews: [
    {
      name: 'reviews that are due',
      expected: { open: 'every node takes them; a review holds what a chain said, and no money' },
      call: () => database.sql`select 1 from take_unread_reviews(0, 1)`,
    },
  ],
  ahead_of: [
    {
      name: "another account's clock",
      expected: { open: 'how far a sandbox is ahead; a live account never is' },
      call: () => database.sql`select ahead_of(${theirs.live})`,
    },
  ],
  claim_sandbox_clocks: [
    {
      name: "everybody's clocks",
      expected: { open: 'ids of sandboxes whose clock was moved: their owners do what is due' },
      call: () => database.sql`select * from claim_sandbox_clocks(10)`,
    },
  ],
  due_in_sandbox: [
    {
      name: 'what is due for a live account',
      expected: 'nothing',
      call: () => database.sql`select * from due_in_sandbox(${theirs.live}, 'infinity', 10)`,
    },
  ],
  openings: [
    {
      name: "what payers have open on another account's link",
      expected: 'nothing',
      call: () =>
        database.sql`select * from openings(${theirs.live}, 'lnk_none', 'a@b', 'client', 'payer', 'infinity', 10)`,
    },
  ],
  is_delivering: [
    {
      name: 'the deliveries of a live account',
      expected: { open: 'whether webhooks of a sandbox are on their way; of a live account nothing' },
      call: () => database.sql`select is_delivering(${theirs.live}, 'infinity')`,
    },
  ],
  expire_payment: [
    {
      name: 'a payment whose time is not over',
      expected: { open: 'false: a time that is not come by the clock of the account expires nothing' },
      call: () => database.sql`select expire_payment(${theirs.live}, 'pay_none', 'infinity')`,
    },
  ],
  take_sandbox_tasks: [
    {
      name: 'tasks that are not due',
      expected: 'nothing',
      call: () => database.sql`select * from take_sandbox_tasks('2020-01-01', '2020-01-02', 10)`,
    },
  ],
};

/** Reads over all accounts, which the watchers, the publisher and operators need; they write nothing. */
const READS = [
  'account_changes',
  'collection_requests_due',
  'events_of_transaction',
  'accounts_with_addresses',
  'accounts_with_due_facts',
  'accounts_with_open_period',
  'accounts_with_pending_band',
  'addresses_since',
  'count_facts_set_aside',
  'counter_gaps',
  'database_figures',
  'dead_builds',
  'facts_set_aside',
  'immature_facts',
  'incomplete_publications',
  'is_pinned',
  'must_keep_factor',
  'audited_balances',
  'balances_of_facts',
  'open_sweep_jobs',
  'due_sweep_policies',
  'due_bridge_transfers',
  'open_withdrawals',
  'open_by_account',
  'open_after',
  'refused_in_sight',
  'settled_in_sight',
  'sso_required',
  'run_of_indexes',
  'unused_between',
  'unpaired_index',
  'unpaired_indexes',
  'watched_addresses',
  'webhooks_sealed_otherwise',
  'webhooks_with_unreadable',
  'young_addresses',
];

const answerOf = (key: string, status: number) => ({
  account_id: theirs.live,
  method: 'POST',
  path: '/v1/addresses',
  key,
  body_hash: 'h',
  status,
  body: '{}',
});

test.serial('found F60: every function that the application role may call is attacked, or is a read', async (t) => {
  const callable = await database.owner<{ name: string; volatility: string }[]>`
    select p.proname as name, p.provolatile as volatility from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname = 'flock' and has_function_privilege('flock_app', p.oid, 'execute') order by 1`;
  t.deepEqual(
    callable.map(({ name }) => name).filter((name) => ATTACKS[name] === undefined && !READS.includes(name)),
    [],
    'neither attacked nor a read',
  );
  t.deepEqual(
    [...Object.keys(ATTACKS), ...READS].filter((name) => callable.every((one) => one.name !== name)),
    [],
    'attacked, and nobody may call it',
  );
  t.deepEqual(
    callable.filter(({ name, volatility }) => READS.includes(name) && volatility === 'v').map(({ name }) => name),
    [],
    'a read is declared stable',
  );
});

for (const [name, attacks] of Object.entries(ATTACKS)) {
  test.serial(`found F60: ${name} checks what its caller claims`, async (t) => {
    await stores.read.purgeIdempotent(0);
    await database.sql`select save_idempotent(${json(answerOf('taken', 201))}::text::jsonb)`;
    for (const { name: attack, expected, call } of attacks) await attacked(t, `${name}: ${attack}`, expected, call);
  });
}

async function attacked(
  t: ExecutionContext,
  what: string,
  expected: Expected,
  call: () => PromiseLike<unknown>,
): Promise<void> {
  if (expected !== 'nothing' && 'open' in expected) return void t.true(expected.open.length > 20, what);
  const before = await books();
  const error: unknown = await Promise.resolve(call()).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (expected === 'nothing') t.is(error, null, `${what}: ${String(error)}`);
  else
    t.deepEqual(
      [sqlstateOf(error)?.slice(0, 2), constraintOf(error)],
      ['23', expected.refused],
      `${what}: ${String(error)}`,
    );
  t.is(await books(), before, what);
}

test.serial('found F60: the same facts are matured at their threshold, below a head that was noted', async (t) => {
  await stores.watch.noteHead('eth', 112, Date.now());
  t.deepEqual(
    await stores.watch.mature('eth', [{ txid: '0xpaid', outputIndex: -1, blockHash: 'a101', confirmations: 12 }]),
    [ours.live],
  );
});

test.serial(
  'found F60: a wipe waits its 72 hours from when the database was asked, whatever its writer says',
  async (t) => {
    const { live, userId } = await newOrganization(stores);
    const scheduledForMs = Date.now() - 3_600_000;
    const row = { id: 'wip_past', status: 'scheduled' as const, userId, scheduledForMs };
    await write(stores, live, [
      { table: 'wipes', row: { ...row, atMs: scheduledForMs - 72 * 3_600_000 }, key: row.id },
    ]);
    const [kept] = await database.owner<{ waits: boolean; asks: boolean }[]>`
    select scheduled_for >= now() + interval '71 hours' as waits, asked_at >= now() - interval '1 hour' as asks
      from wipe where account_id = ${live}`;
    t.deepEqual({ ...kept }, { waits: true, asks: true });
  },
);

test.serial('found F60: the epoch of a shard is the only one that loads its accounts', async (t) => {
  const { epoch } = await fenceOf(theirs.live);
  for (const tried of [0, epoch + 1, 999_999, Number.MAX_SAFE_INTEGER]) {
    const [row] = await database.sql<
      { known: boolean; accountVersion: number | null }[]
    >`select * from load_account(${theirs.live}, ${tried})`;
    t.deepEqual([row!.known, row!.accountVersion], [true, null]);
  }
  t.not(await stores.accounts.load(theirs.live), null, 'its owner is not locked out');
});

test.serial('I27 the limit of the schema is the limit of the plans', async (t) => {
  for (const tier of Object.keys(TIER_TERMS) as Tier[]) {
    for (const band of Object.keys(BAND_TERMS) as Band[]) {
      const [row] = await database.owner<
        { limit: number }[]
      >`select address_limit_of(${json({ tier, band })}::text::jsonb) as limit`;
      t.is(row!.limit, addressLimitOf({ tier, band }), `${tier} ${band}`);
    }
  }
});

test.serial(
  'found F60: a fork below the first block that was recorded is a fork, as long as no link was purged',
  async (t) => {
    const links = linksAfter({ height: 40, hash: 'b40' }, 3, 'b'),
      below = { height: 40, hash: `c${randomBytes(4).toString('hex')}` };
    for (const [index, link] of links.entries())
      await stores.watch.recordBlock('tron', recordOf(link, [], index === 0 ? { previous: null } : {}));
    const branch = linksAfter(below, 5, 'c').map((link) => recordOf(link));
    t.true((await stores.watch.recordReorg('tron', below, { height: 43, hash: 'b43' }, branch)).recorded);
    t.is(B105.height, 105);
  },
);
