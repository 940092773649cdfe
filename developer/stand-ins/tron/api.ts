/**
 * The HTTP API of one node over the ledger: `/wallet` from the newest state, `/walletsolidity` from the solidified one.
 * Errors are java-tron's: HTTP 200 with `{"Error": "class … : …"}`, `{}` for what is not there. The knobs make it lag,
 * lie, limit, forget and die.
 */
import { parseLossless } from '../../../protocol/lossless-json.ts';
import type { InProcessReply } from '../in-process.ts';
import { runCall, selectorOf } from './machine.ts';
import type { BroadcastReturn, PeerBlock, PeerLedger } from './ledger.ts';
import { accountJson, blockJson, hexText, infoJson, logJson, textOf, withoutDefaults } from './json.ts';
import { assembleTransaction, packRaw, parseTransaction, transactionJson } from './transaction.ts';
import { addressOf } from './sdk.ts';
import { copyOf, type World } from './world.ts';

export type View = 'wallet' | 'walletsolidity';
type Json = Record<string, unknown>;
type Body = Readonly<Record<string, unknown>>;

export interface Knobs {
  /** Blocks that the node is behind; it knows nothing above. */
  lagBlocks: number;
  /** More blocks that its solidified view is behind. */
  solidLagBlocks: number;
  down: boolean;
  /** Answers every request with 429, or as TronGrid does with 403. */
  limited: null | 429 | 403;
  /** `view/method` of paths that it does not serve. */
  readonly missing: Set<string>;
  /** java-tron's `saveInternalTx`, off by default there. */
  savesInternal: boolean;
  /** `storage.transHistory.switch`: without it there are blocks and no infos. */
  keepsInfos: boolean;
  /** `storage.balance.history.lookup`. */
  keepsBalances: boolean;
  /** Id of block 0; another one is another network. */
  genesis: string;
  /** Answered to every broadcast in place of the ledger's own word. */
  broadcast: null | { readonly code: string; readonly message: string };
  /** Last word on every answer. */
  lie: null | ((view: View, method: string, body: Body, answer: unknown) => unknown);
}

export const GENESIS = '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc';

export const honestKnobs = (): Knobs => ({
  lagBlocks: 0,
  solidLagBlocks: 0,
  down: false,
  limited: null,
  missing: new Set(),
  savesInternal: true,
  keepsInfos: true,
  keepsBalances: false,
  genesis: GENESIS,
  broadcast: null,
  lie: null,
});

/** One node: answers a request by path and body. */
export interface NodeApi {
  answer(path: string, body: string): InProcessReply;
}

interface Context {
  readonly ledger: PeerLedger;
  readonly knobs: Knobs;
  readonly view: View;
  readonly visible: boolean;
  readonly seen: Set<string>;
}

class NodeError extends Error {
  readonly kind: string;
  constructor(kind: string, text: string) {
    super(text);
    this.kind = kind;
  }
}

const addressIn = (text: unknown): string => {
  const given = String(text ?? '');
  return given.startsWith('T') ? given : addressOf(Buffer.from(given.slice(2), 'hex'));
};

function topOf({ ledger, knobs, view }: Context): number {
  const head = ledger.headHeight() - knobs.lagBlocks;
  return view === 'wallet'
    ? head
    : Math.max(ledger.startHeight, ledger.solidHeight() - knobs.lagBlocks - knobs.solidLagBlocks);
}

function worldOf(context: Context): World {
  const { ledger, knobs, view } = context;
  return view === 'wallet' && knobs.lagBlocks === 0 ? ledger.pendingWorld() : ledger.worldAt(topOf(context));
}

/** Block 0 is the network's; what lies between it and the ledger's own first block is pruned. */
function blockAt(context: Context, height: number): PeerBlock | null {
  const { ledger, knobs } = context;
  if (height === 0) {
    return {
      height: 0,
      id: knobs.genesis,
      parentId: '0'.repeat(64),
      timeMs: 0,
      witness: '41'.padEnd(42, '0'),
      txRoot: '0'.repeat(64),
      entries: [],
    };
  }
  return height > topOf(context) ? null : ledger.block(height);
}

function found(context: Context, txid: string) {
  const place = context.ledger.find(txid);
  return place === null || place.block.height > topOf(context) ? null : place;
}

const infosOf = ({ knobs, visible }: Context, block: PeerBlock): Json[] =>
  knobs.keepsInfos ? block.entries.map((entry) => infoJson(entry, block, knobs.savesInternal, visible)) : [];

function resources(context: Context, address: string): Json {
  const account = worldOf(context).accounts.get(address);
  if (account === undefined) return {};
  return withoutDefaults({
    freeNetUsed: account.freeNetUsed,
    freeNetLimit: context.ledger.parameters.freeNetLimit,
    NetUsed: account.netUsed,
    NetLimit: account.netLimit,
    EnergyUsed: account.energyUsed,
    EnergyLimit: account.energyLimit,
    TotalNetLimit: 43_200_000_000n,
    TotalNetWeight: 26_982_826_755n,
    TotalEnergyLimit: 180_000_000_000n,
    TotalEnergyWeight: 19_000_000_000n,
  });
}

function parametersJson({ ledger: { parameters } }: Context): Json {
  const listed: readonly (readonly [string, bigint])[] = [
    ['getMaintenanceTimeInterval', 21_600_000n],
    ['getAccountUpgradeCost', 9_999_000_000n],
    ['getCreateAccountFee', parameters.createAccountFee],
    ['getTransactionFee', parameters.transactionFee],
    ['getCreateNewAccountFeeInSystemContract', parameters.newAccountFee],
    ['getCreateNewAccountBandwidthRate', parameters.createAccountRate],
    ['getEnergyFee', parameters.energyFee],
    ['getForbidTransferToContract', 1n],
    ['getMaxFeeLimit', parameters.maxFeeLimit],
    ['getFreeNetLimit', parameters.freeNetLimit],
    ['getMemoFee', parameters.memoFee],
    ['getAllowAccountStateRoot', 0n],
  ];
  return { chainParameter: listed.map(([key, value]) => ({ key, ...withoutDefaults({ value }) })) };
}

function callData(body: Body): string {
  const selector = body['function_selector'];
  return typeof selector === 'string'
    ? selectorOf(selector) + String(body['parameter'] ?? '')
    : String(body['data'] ?? '');
}

function constantCall(context: Context, body: Body): Json {
  const caller = addressIn(body['owner_address']);
  const contract = addressIn(body['contract_address']);
  const world = copyOf(worldOf(context));
  const refused = (code: string, text: string): Json => ({ result: { code, message: hexText(text) } });
  if (!world.contracts.has(contract)) return refused('CONTRACT_VALIDATE_ERROR', 'Smart contract is not exist.');
  const run = runCall(world, { caller, contract, input: callData(body), callValue: 0n, timeMs: 0 });
  const failed = run.outcome === 'REVERT';
  return {
    result: { result: true, ...(failed ? { message: hexText('REVERT opcode executed') } : {}) },
    ...withoutDefaults({ energy_used: run.energy, energy_penalty: run.penalty }),
    constant_result: [run.returned],
    ...(run.logs.length === 0 ? {} : { logs: run.logs.map(logJson) }),
    transaction: { ret: [failed ? { ret: 'FAILED' } : {}], visible: context.visible, raw_data: {}, raw_data_hex: '' },
  };
}

/** Raw data as the builders make it: the newest block as reference, a minute to live. */
function built(context: Context, type: string, value: Json, feeLimit: bigint): Json {
  const head = context.ledger.block(topOf(context))!;
  const raw = {
    contract: [{ type, parameter: { value } }],
    ref_block_bytes: head.id.slice(12, 16),
    ref_block_hash: head.id.slice(16, 32),
    expiration: head.timeMs + 60_000,
    timestamp: head.timeMs,
    fee_limit: feeLimit,
  };
  return {
    visible: context.visible,
    ...transactionJson(assembleTransaction(packRaw(raw, context.visible), []), context.visible, null),
  };
}

function createTransaction(context: Context, body: Body): Json {
  const owner = worldOf(context).accounts.get(addressIn(body['owner_address']));
  const amount = BigInt(String(body['amount'] ?? 0));
  const no = (text: string): never => {
    throw new NodeError('org.tron.core.exception.ContractValidateException', text);
  };
  if (owner === undefined) return no('Validate TransferContract error, no OwnerAccount.');
  if (owner.balance < amount) return no('Validate TransferContract error, balance is not sufficient.');
  return built(
    context,
    'TransferContract',
    {
      owner_address: body['owner_address'],
      to_address: body['to_address'],
      amount,
    },
    0n,
  );
}

function triggerContract(context: Context, body: Body): Json {
  const value = {
    owner_address: body['owner_address'],
    contract_address: body['contract_address'],
    data: callData(body),
    call_value: BigInt(String(body['call_value'] ?? 0)),
  };
  return {
    transaction: built(context, 'TriggerSmartContract', value, BigInt(String(body['fee_limit'] ?? 0))),
    result: { result: true },
  };
}

function submit({ ledger, knobs, seen }: Context, bytes: Buffer): BroadcastReturn {
  if (knobs.broadcast === null) return ledger.broadcast(bytes, seen);
  return { result: knobs.broadcast.code === 'SUCCESS', ...knobs.broadcast, txid: parseTransaction(bytes).txid };
}

function broadcastHex(context: Context, body: Body): Json {
  const { result, code, message, txid } = submit(context, Buffer.from(String(body['transaction']), 'hex'));
  return { result, code, message, transaction: '{}', txid };
}

function broadcastJson(context: Context, body: Body): Json {
  const signatures = ((body['signature'] ?? []) as string[]).map((signature) => Buffer.from(signature, 'hex'));
  const { bytes } = assembleTransaction(packRaw(body['raw_data'] as Body, body['visible'] === true), signatures);
  const { result, code, message, txid } = submit(context, bytes);
  const text = context.visible ? message : hexText(message);
  return { ...(result ? { result: true } : { code, ...(message === '' ? {} : { message: text }) }), txid };
}

function balanceAt(context: Context, body: Body): Json {
  const { number, hash } = body['block_identifier'] as { number: number; hash: string };
  const { address } = body['account_identifier'] as { address: string };
  checkIdentifier(context, number, hash);
  const account = context.knobs.keepsBalances
    ? context.ledger.worldAt(number).accounts.get(addressIn(address))
    : undefined;
  return { ...withoutDefaults({ balance: account?.balance ?? 0n }), block_identifier: { hash, number } };
}

function checkIdentifier(context: Context, number: number, hash: string): void {
  if (blockAt(context, number)?.id !== hash) {
    throw new NodeError('java.lang.IllegalArgumentException', 'number and hash do not match');
  }
}

function blockBalance(context: Context, body: Body): Json {
  const { number, hash } = body as { number: number; hash: string };
  checkIdentifier(context, number, hash);
  if (!context.knobs.keepsBalances) {
    throw new NodeError('org.tron.core.exception.ItemNotFoundException', 'This block does not exist');
  }
  return { block_identifier: { hash, number }, timestamp: blockAt(context, number)!.timeMs };
}

const textIn = (body: Body, name: string): string => String(body[name] ?? '').toLowerCase();
const orEmpty = (value: Json | null): Json => value ?? {};

const METHODS: Readonly<Record<string, (context: Context, body: Body) => unknown>> = {
  getnowblock: (context) => blockJson(context.ledger.block(topOf(context))!, true, context.visible),
  getblock(context, body) {
    const asked = String(body['id_or_num'] ?? topOf(context)),
      isId = asked.length === 64;
    const held = blockAt(context, isId ? Number.parseInt(asked.slice(0, 16), 16) : Number(asked));
    const block = isId && held?.id !== asked ? null : held;
    return block === null ? {} : blockJson(block, body['detail'] === true, context.visible);
  },
  getblockbynum(context, body) {
    const block = blockAt(context, Number(body['num']));
    return block === null ? {} : blockJson(block, true, context.visible);
  },
  gettransactioninfobyblocknum(context, body) {
    const height = Number(body['num']);
    if (height <= 0) return {};
    const block = blockAt(context, height);
    return block === null ? [] : infosOf(context, block);
  },
  gettransactionbyid(context, body) {
    const place = found(context, textIn(body, 'value'));
    if (place !== null) return transactionJson(place.entry.transaction, context.visible, place.entry.contractRet);
    // What waits is in the newest state, and so it is found by its id before any block has it.
    const held =
      context.view === 'wallet'
        ? context.ledger.pending().find(({ transaction }) => transaction.txid === textIn(body, 'value'))
        : undefined;
    return held === undefined ? {} : transactionJson(held.transaction, context.visible, held.contractRet);
  },
  gettransactioninfobyid(context, body) {
    const place = context.knobs.keepsInfos ? found(context, textIn(body, 'value')) : null;
    return orEmpty(
      place === null ? null : infoJson(place.entry, place.block, context.knobs.savesInternal, context.visible),
    );
  },
  gettransactionfrompending(context, body) {
    const held = context.ledger.pending().find(({ transaction }) => transaction.txid === textIn(body, 'value'));
    return orEmpty(held === undefined ? null : transactionJson(held.transaction, context.visible, held.contractRet));
  },
  getaccount(context, body) {
    const address = addressIn(body['address']),
      account = worldOf(context).accounts.get(address);
    return account === undefined ? {} : accountJson(address, account, context.visible);
  },
  getaccountresource: (context, body) => resources(context, addressIn(body['address'])),
  getchainparameters: parametersJson,
  triggerconstantcontract: constantCall,
  triggersmartcontract: triggerContract,
  createtransaction: createTransaction,
  broadcasthex: broadcastHex,
  broadcasttransaction: broadcastJson,
  getaccountbalance: balanceAt,
  getblockbalance: blockBalance,
};

const ONLY_WALLET = new Set([
  'broadcasthex',
  'broadcasttransaction',
  'createtransaction',
  'triggersmartcontract',
  'getchainparameters',
  'gettransactionfrompending',
  'getaccountbalance',
  'getblockbalance',
  'getaccountresource',
]);

const JSON_HEADERS = { 'content-type': 'application/json;charset=utf-8' };
const notFound: InProcessReply = {
  status: 404,
  headers: { 'content-type': 'text/html' },
  text: '<html><head><title>Error 404 Not Found</title></head></html>',
};

/** A node over a ledger, as its knobs say. */
export function createNodeApi(ledger: PeerLedger, knobs: Knobs): NodeApi {
  const seen = new Set<string>();
  const limited = (status: 429 | 403): InProcessReply => ({
    status,
    headers: { ...JSON_HEADERS, 'retry-after': '1' },
    text: textOf({ Success: false, Error: 'The key exceeds the frequency limit', StatusCode: status }),
  });
  return {
    answer(path, text) {
      if (knobs.limited !== null) return limited(knobs.limited);
      const [, view, method = ''] = /^\/(wallet|walletsolidity)\/([a-z]+)$/.exec(path) ?? [],
        run = METHODS[method];
      const served =
        view !== undefined &&
        run !== undefined &&
        !(view === 'walletsolidity' && ONLY_WALLET.has(method)) &&
        !knobs.missing.has(`${view}/${method}`);
      if (!served) return notFound;
      let answer: unknown;
      try {
        const body = (text === '' ? {} : parseLossless(text)) as Body;
        const context: Context = { ledger, knobs, view: view as View, visible: body['visible'] === true, seen };
        answer = run(context, body);
        if (knobs.lie !== null) answer = knobs.lie(view as View, method, body, answer);
      } catch (error) {
        const kind = error instanceof NodeError ? error.kind : 'java.lang.IllegalArgumentException';
        answer = { Error: `class ${kind} : ${error instanceof Error ? error.message : String(error)}` };
      }
      return { status: 200, headers: JSON_HEADERS, text: textOf(answer) };
    },
  };
}
