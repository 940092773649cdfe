/**
 * The stand-in against answers of real servers: what was recorded is applied again, and answers have the recorded
 * shapes.
 */
import test from 'ava';
import { encode } from 'ripple-binary-codec';
import { accountKey, lineKey, type Entry } from '../../../developer/stand-ins/xrp/entries.ts';
import { LedgerNetwork } from '../../../developer/stand-ins/xrp/ledger-network.ts';
import { act, fund, makeIssuer, payToken, signedBy, trust } from '../../../developer/stand-ins/xrp/people.ts';
import { startXrpServer } from '../../../developer/stand-ins/xrp/server.ts';
import { GENESIS, walletOf } from '../../../developer/stand-ins/xrp/signers.ts';
import { applyTransaction, readBlob, type Json } from '../../../developer/stand-ins/xrp/transactions.ts';
import { vector } from '../../support/vectors.ts';

interface Recorded {
  readonly name: string;
  readonly json: Json;
  readonly meta: { AffectedNodes: Node[]; TransactionResult: string; DeliveredAmount?: unknown };
  readonly height: number;
}
type Fields = Record<string, unknown>;
interface Body {
  LedgerEntryType: string;
  LedgerIndex: string;
  FinalFields?: Fields;
  NewFields?: Fields;
  PreviousFields?: Fields;
  PreviousTxnID?: string;
  PreviousTxnLgrSeq?: number;
}
type Node = Record<'CreatedNode' | 'ModifiedNode' | 'DeletedNode', Body | undefined>;

const TYPES = new Set(['Payment', 'AccountDelete', 'TrustSet']);
const BESIDE = [
  'hash',
  'metaData',
  'meta',
  'DeliverMax',
  'date',
  'inLedger',
  'ledger_index',
  'validated',
  'ledger_hash',
];

function recorded(name: string, outer: Fields, fields: Fields, meta: unknown, height: number): Recorded {
  const json = Object.fromEntries(Object.entries(fields).filter(([field]) => !BESIDE.includes(field)));
  return {
    name: `${name} ${String(outer['hash'] ?? fields['hash']).slice(0, 8)}`,
    json,
    meta: meta as Recorded['meta'],
    height,
  };
}

/** Signed transactions of the vectors whose kind the stand-in plays; trades and pools are left to real ledgers. */
function transactions(): Recorded[] {
  const ledgers = ['ledger_90150378', 'ledger_94084608'].flatMap((file) => {
    const { ledger } = vector<{ result: { ledger: { ledger_index: string; transactions: Fields[] } } }>(
      `nodes/xrp/${file}.json`,
    ).result;
    return ledger.transactions.map((tx) => recorded(file, tx, tx, tx['metaData'], Number(ledger.ledger_index)));
  });
  const created = vector<{ transaction: Fields; metadata: unknown; ledger_index: number }>(
    'nodes/xrp/payment_creates_account.json',
  );
  const deleted = vector<{ result: Fields }>('nodes/xrp/account_delete.json').result;
  return [
    ...ledgers.filter(
      ({ json }) =>
        TYPES.has(String(json['TransactionType'])) &&
        json['SendMax'] === undefined &&
        json['Account'] !== json['Destination'],
    ),
    recorded(
      'payment_creates_account',
      created.transaction,
      created.transaction,
      created.metadata,
      created.ledger_index,
    ),
    recorded('account_delete', deleted, deleted, deleted['meta'], Number(deleted['ledger_index'])),
  ];
}

/** What the touched entries were before. */
function stateBefore({ meta }: Recorded): Map<string, Entry> {
  const entries = meta.AffectedNodes.flatMap(({ ModifiedNode, DeletedNode }) => {
    const node = ModifiedNode ?? DeletedNode;
    if (node === undefined) return [];
    const {
      PreviousTxnID = node.FinalFields?.['PreviousTxnID'],
      PreviousTxnLgrSeq = node.FinalFields?.['PreviousTxnLgrSeq'],
    } = node;
    return [
      [
        node.LedgerIndex,
        {
          ...node.FinalFields,
          ...node.PreviousFields,
          LedgerEntryType: node.LedgerEntryType,
          PreviousTxnID,
          PreviousTxnLgrSeq,
        } as Entry,
      ] as const,
    ];
  });
  return new Map(entries);
}

/** Nodes by key; what a deleted entry was threaded to stands among its fields in recordings and beside them here. */
function byKey(nodes: readonly Node[]): Record<string, unknown> {
  return Object.fromEntries(
    nodes.map((node) => {
      const [kind, body] = Object.entries(node)[0] as [string, Body];
      const { PreviousTxnID, PreviousTxnLgrSeq, ...FinalFields } = body.FinalFields ?? {};
      return [
        body.LedgerIndex,
        {
          kind,
          ...body,
          ...(body.FinalFields === undefined ? {} : { FinalFields }),
          ...(kind === 'DeletedNode' ? { PreviousTxnID: undefined, PreviousTxnLgrSeq: undefined } : {}),
        },
      ];
    }),
  );
}

/** Reserves of the time, base and increment in drops: voted down in December 2024; 20 and 5 XRP in the early days. */
const RESERVES: Readonly<Record<string, readonly [bigint, bigint]>> = {
  ledger_90150378: [10_000_000n, 2_000_000n],
  ledger_94084608: [1_000_000n, 200_000n],
};

for (const one of transactions()) {
  test(`the stand-in applies what a real ledger applied, with its signature: ${one.name}`, (t) => {
    const tx = readBlob(encode(one.json));
    const state = stateBefore(one);
    for (const [key, entry] of state) {
      if (entry.LedgerEntryType === 'AccountRoot') t.is(accountKey(String(entry['Account'])), key);
      else if (entry.LedgerEntryType === 'RippleState') {
        const end = (limit: string) => entry[limit] as { issuer: string; currency: string };
        t.is(lineKey(end('LowLimit').issuer, end('HighLimit').issuer, end('LowLimit').currency), key);
      }
    }
    // An issuer whose root the payment did not touch is there all the same.
    const amount = one.json['Amount'] as { issuer?: string };
    if (typeof amount === 'object' && !state.has(accountKey(amount.issuer!))) {
      state.set(accountKey(amount.issuer!), {
        LedgerEntryType: 'AccountRoot',
        Account: amount.issuer!,
        Balance: '1000000000',
        Flags: 0x0080_0000,
        OwnerCount: 0,
        Sequence: 1,
      });
    }
    // So is a destination that got nothing.
    const destination = one.json['Destination'] as string | undefined;
    if (one.meta.TransactionResult === 'tecUNFUNDED_PAYMENT') {
      state.set(accountKey(destination!), {
        LedgerEntryType: 'AccountRoot',
        Account: destination!,
        Balance: '1000000000',
        Flags: 0,
        OwnerCount: 0,
        Sequence: 1,
      });
    }
    const [reserveBase, reserveIncrement] = RESERVES[one.name.split(' ')[0]!] ?? [20_000_000n, 5_000_000n];
    const rules = { fees: { baseFee: 10n, reserveBase, reserveIncrement }, networkId: 0 };
    const trusts = one.json['TransactionType'] === 'TrustSet';
    const outcome = applyTransaction(
      { state, place: { height: one.height, isOpen: false }, rules, isKnown: () => false },
      tx,
    );
    if (trusts) {
      // The line that it repeats was not touched, so the recording does not hold it; the fee is what is left to
      // compare.
      t.is(outcome.applied!.feePaid, BigInt(String(one.json['Fee'])));
      return;
    }
    t.is(outcome.result, one.meta.TransactionResult);
    const created = one.meta.AffectedNodes.find(
      ({ CreatedNode }) => CreatedNode?.LedgerEntryType === 'AccountRoot',
    )?.CreatedNode;
    // R23: since 2021 a new account begins at the index of its ledger, not at 1.
    if (created !== undefined) created.NewFields!['Sequence'] = one.height;
    t.deepEqual(byKey(outcome.applied!.meta['AffectedNodes'] as Node[]), byKey(one.meta.AffectedNodes));
  });
}

interface Shape {
  readonly name: string;
  readonly source: string;
  readonly response: Json;
}
const shapes = vector<{ cases: Shape[] }>('nodes/xrp/rpc_shapes.json').cases;
const shapeOf = (name: string, part = '') =>
  shapes.find((one) => one.name === name && one.source.includes(part))!.response;

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => (inner as Json | undefined)?.[name], value);
const kindOf = (value: unknown) => (Array.isArray(value) ? 'list' : typeof value);

/** Recorded answer, what is asked here, and the fields that must be of the recorded type. */
const ASKED: readonly (readonly [
  recordedAs: string,
  part: string,
  request: Json,
  paths: readonly string[],
  over: 'ws' | 'http',
])[] = [
  [
    'account-info-not-found',
    '',
    { command: 'account_info', account: walletOf('nobody').classicAddress },
    [
      'id',
      'status',
      'type',
      'account',
      'error',
      'error_code',
      'error_message',
      'ledger_current_index',
      'request.command',
    ],
    'ws',
  ],
  [
    'ledger-not-found',
    '',
    { command: 'ledger', ledger_index: 34 },
    ['id', 'status', 'type', 'error', 'error_code', 'error_message', 'request.ledger_index'],
    'ws',
  ],
  [
    'not-found',
    '',
    { command: 'tx', transaction: 'E0'.repeat(32) },
    ['status', 'error', 'error_code', 'error_message', 'request.transaction'],
    'ws',
  ],
  [
    'serverInfo',
    'xrpl.js',
    { command: 'server_info' },
    [
      'result.info.build_version',
      'result.info.complete_ledgers',
      'result.info.load_factor',
      'result.info.peers',
      'result.info.server_state',
      'result.info.validation_quorum',
      'result.info.validated_ledger.age',
      'result.info.validated_ledger.base_fee_xrp',
      'result.info.validated_ledger.hash',
      'result.info.validated_ledger.reserve_base_xrp',
      'result.info.validated_ledger.reserve_inc_xrp',
      'result.info.validated_ledger.seq',
    ],
    'ws',
  ],
  [
    'accountInfo',
    '',
    { command: 'account_info', account: GENESIS.classicAddress, ledger_index: 'validated' },
    [
      'status',
      'result.ledger_index',
      'result.account_data.Account',
      'result.account_data.Balance',
      'result.account_data.Flags',
      'result.account_data.LedgerEntryType',
      'result.account_data.OwnerCount',
      'result.account_data.Sequence',
      'result.account_data.index',
      'result.account_data.PreviousTxnID',
      'result.account_data.PreviousTxnLgrSeq',
    ],
    'ws',
  ],
  [
    'ledger',
    'rippled/ledger.json',
    { command: 'ledger', ledger_index: 'validated', transactions: true },
    [
      'result.ledger_hash',
      'result.ledger_index',
      'result.validated',
      ...[
        'account_hash',
        'close_time',
        'parent_close_time',
        'close_time_human',
        'close_time_resolution',
        'closed',
        'close_flags',
        'ledger_hash',
        'ledger_index',
        'parent_hash',
        'total_coins',
        'transaction_hash',
        'transactions',
        'transactions.0',
      ].map((field) => `result.ledger.${field}`),
    ],
    'ws',
  ],
  [
    'jsonrpc-response',
    'account_lines',
    { command: 'account_lines', account: walletOf('holder').classicAddress, ledger_index: 'current' },
    [
      'result.account',
      'result.ledger_current_index',
      'result.status',
      'result.validated',
      'result.lines',
      ...[
        'account',
        'balance',
        'currency',
        'limit',
        'limit_peer',
        'no_ripple',
        'no_ripple_peer',
        'quality_in',
        'quality_out',
      ].map((field) => `result.lines.0.${field}`),
    ],
    'http',
  ],
];

async function stage(t: { teardown(fn: () => Promise<void>): void }) {
  const network = new LedgerNetwork({ nowMs: () => 1_760_000_000_000 });
  const issuer = walletOf('issuer'),
    holder = walletOf('holder'),
    token = { currency: 'USD', issuer: issuer.classicAddress };
  fund(network, holder.classicAddress, 50_000_000n);
  makeIssuer(network, issuer);
  network.close();
  trust(network, holder, token);
  const txid = payToken(network, issuer, holder.classicAddress, { ...token, value: '5' });
  network.close();
  const server = await startXrpServer(network);
  t.teardown(() => server.close());
  const overHttp = async (request: Json): Promise<Json> => {
    const { command, ...params } = request;
    const reply = await fetch(server.url, {
      method: 'POST',
      body: JSON.stringify({ method: command, params: [params] }),
    });
    return (await reply.json()) as Json;
  };
  const overWebSocket = (request: Json) =>
    new Promise<Json>((resolve, reject) => {
      const socket = new WebSocket(server.webSocketUrl);
      socket.onopen = () => socket.send(JSON.stringify({ id: 0, ...request }));
      socket.onerror = () => reject(new Error('the socket failed'));
      socket.onmessage = ({ data }) => {
        socket.close();
        resolve(JSON.parse(String(data)) as Json);
      };
    });
  return { network, server, txid, issuer, holder, token, ask: { http: overHttp, ws: overWebSocket } };
}

for (const [name, part, request, paths, over] of ASKED) {
  test(`8.2 the stand-in answers ${request['command']} in the recorded shape of ${name}`, async (t) => {
    const { ask } = await stage(t);
    const ours = await ask[over](request),
      theirs = shapeOf(name, part);
    for (const path of paths) t.is(kindOf(at(ours, path)), kindOf(at(theirs, path)), path);
    for (const path of ['status', 'type', 'error'])
      if (at(theirs, path) !== undefined) t.is(at(ours, path), at(theirs, path));
  });
}

test('8.2 the stand-in answers tx of version 2 and submit in the recorded shapes', async (t) => {
  const { ask, txid, network, holder } = await stage(t);
  const tx = await ask.http({ command: 'tx', transaction: txid, api_version: 2 }),
    theirs = shapeOf('jsonrpc-response', '/tx/');
  for (const path of [
    'tx_json.Account',
    'tx_json.Fee',
    'tx_json.Sequence',
    'tx_json.date',
    'tx_json.ledger_index',
    'hash',
    'meta.AffectedNodes',
    'meta.TransactionIndex',
    'meta.TransactionResult',
    'validated',
    'ledger_index',
    'ledger_hash',
    'close_time_iso',
    'status',
  ])
    t.is(kindOf(at(tx, `result.${path}`)), kindOf(at(theirs, `result.${path}`)), path);
  t.is(at(tx, 'result.tx_json.hash'), undefined);
  const { blob } = signedBy(network, holder, {
    TransactionType: 'Payment',
    Destination: GENESIS.classicAddress,
    Amount: '5',
  });
  const submitted = await ask.ws({ command: 'submit', tx_blob: blob }),
    accepted = shapeOf('submit', 'submit.json');
  for (const path of [
    'engine_result',
    'engine_result_code',
    'engine_result_message',
    'tx_blob',
    'tx_json.hash',
    'tx_json.Account',
    'tx_json.TxnSignature',
  ]) {
    t.is(kindOf(at(submitted, `result.${path}`)), kindOf(at(accepted, `result.${path}`)), path);
  }
  for (const path of ['engine_result', 'engine_result_code', 'engine_result_message'])
    t.deepEqual(at(submitted, `result.${path}`), at(accepted, `result.${path}`));
  const { blob: bad } = signedBy(network, holder, {
    TransactionType: 'Payment',
    Destination: holder.classicAddress,
    Amount: '5',
  });
  const refused = await ask.ws({ command: 'submit', tx_blob: bad }),
    malformed = shapeOf('submitTemError');
  t.is(at(refused, 'result.engine_result'), 'temREDUNDANT');
  t.true(
    Math.abs(Number(at(refused, 'result.engine_result_code')) - Number(at(malformed, 'result.engine_result_code'))) <
      100,
    'tem codes stand together',
  );
});

test('8.2 a ledger that is closed tells its subscribers in the recorded shape', async (t) => {
  const { server, network } = await stage(t);
  const socket = new WebSocket(server.webSocketUrl),
    heard: Json[] = [];
  t.teardown(async () => {
    socket.close();
  });
  const told = new Promise<void>((resolve) => {
    socket.onopen = () => socket.send(JSON.stringify({ id: 1, command: 'subscribe', streams: ['ledger'] }));
    socket.onmessage = ({ data }) => {
      heard.push(JSON.parse(String(data)) as Json);
      if (heard.length === 1) network.close();
      else resolve();
    };
  });
  await told;
  const [, message] = heard,
    theirs = shapeOf('ledger', 'streams');
  for (const path of Object.keys(theirs).filter((field) => field !== 'fee_ref'))
    t.is(kindOf(at(message, path)), kindOf(at(theirs, path)), path);
  t.is(message!['ledger_hash'], network.tip.hash);
});

test('8.2 a transaction that waits is shown as not validated, as recorded', async (t) => {
  const { ask, network, holder } = await stage(t);
  const { tx } = act(network, holder, { TransactionType: 'Payment', Destination: GENESIS.classicAddress, Amount: '5' });
  const ours = await ask.ws({ command: 'tx', transaction: tx.txid }),
    theirs = shapeOf('not-validated');
  for (const path of [
    'Account',
    'Fee',
    'Flags',
    'Sequence',
    'SigningPubKey',
    'TransactionType',
    'TxnSignature',
    'hash',
    'validated',
  ]) {
    if (path !== 'Flags') t.is(kindOf(at(ours, `result.${path}`)), kindOf(at(theirs, `result.${path}`)), path);
  }
  t.is(at(ours, 'result.validated'), false);
});
