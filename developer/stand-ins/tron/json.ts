/**
 * Answers as java-tron prints them: integers as JSON numbers of any size, defaults left out, addresses in hex or
 * base58.
 */
import type { Executed } from './execute.ts';
import type { PeerBlock } from './ledger.ts';
import type { Internal, Log } from './machine.ts';
import { printedAddress, transactionJson } from './transaction.ts';
import type { Account } from './world.ts';

type Json = Record<string, unknown>;

/** JSON text of a value; a bigint is printed with all its digits. */
export function textOf(value: unknown): string {
  const marked = JSON.stringify(value, (_key, entry: unknown) =>
    typeof entry === 'bigint' ? `\u0000${entry}` : entry,
  );
  return marked.replace(/"\\u0000(-?[0-9]+)"/g, '$1');
}

const DEFAULTS = new Set<unknown>([0n, 0, '', false, undefined]);

/** The fields whose value is not the default of proto3. */
export function withoutDefaults(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !DEFAULTS.has(value)));
}

export const hexText = (text: string): string => Buffer.from(text).toString('hex');

export function blockJson(block: PeerBlock, detail: boolean, visible: boolean): Json {
  const { height, id, parentId, timeMs, witness, txRoot, entries } = block;
  return {
    blockID: id,
    block_header: {
      raw_data: withoutDefaults({
        number: height,
        txTrieRoot: txRoot,
        witness_address: witness,
        parentHash: parentId,
        version: 34,
        timestamp: timeMs,
      }),
      witness_signature: `${id}${id}00`,
    },
    ...(detail && entries.length > 0
      ? {
          transactions: entries.map(({ transaction, contractRet }) =>
            transactionJson(transaction, visible, contractRet),
          ),
        }
      : {}),
  };
}

function internalJson(
  { from, to, value, note }: Internal,
  index: number,
  { transaction, failed }: Executed,
  visible: boolean,
): Json {
  return {
    hash: hexText(`${transaction.txid.slice(0, 24)} ${index}`)
      .padEnd(64, '0')
      .slice(0, 64),
    caller_address: printedAddress(from, visible),
    transferTo_address: printedAddress(to, visible),
    callValueInfo: [withoutDefaults({ callValue: value })],
    note: hexText(note),
    ...(failed ? { rejected: true } : {}),
  };
}

/** A log; its address has no 41 before it, whatever form the addresses of an answer have. */
export function logJson({ address, topics, words }: Log): Json {
  return { address: printedAddress(address, false).slice(2), topics, data: words };
}

/** The info of a transaction in a block; `internals` as the node's `saveInternalTx` is set. */
export function infoJson(entry: Executed, block: PeerBlock, internals: boolean, visible: boolean): Json {
  const { transaction, fee, receipt, failed, resMessage, contract, returned, logs } = entry;
  return {
    id: transaction.txid,
    ...withoutDefaults({ fee }),
    blockNumber: block.height,
    blockTimeStamp: block.timeMs,
    contractResult: [returned],
    ...(contract === null ? {} : { contract_address: printedAddress(contract, visible) }),
    receipt: withoutDefaults({ ...receipt }),
    ...(logs.length === 0 ? {} : { log: logs.map(logJson) }),
    ...(failed ? { result: 'FAILED', resMessage: hexText(resMessage) } : {}),
    ...(internals && entry.internals.length > 0
      ? {
          internal_transactions: entry.internals.map((internal, index) =>
            internalJson(internal, index, entry, visible),
          ),
        }
      : {}),
  };
}

export function accountJson(address: string, account: Account, visible: boolean): Json {
  const own = printedAddress(address, visible);
  const keys = [{ address: own, weight: 1 }];
  return {
    ...(account.isContract ? { type: 'Contract' } : {}),
    address: own,
    ...withoutDefaults({ balance: account.balance, create_time: account.createdMs }),
    net_window_size: 28_800_000,
    net_window_optimized: true,
    account_resource: withoutDefaults({
      energy_usage: account.energyUsed,
      energy_window_size: 28_800_000n,
      energy_window_optimized: true,
    }),
    owner_permission: { permission_name: 'owner', threshold: 1, keys },
    active_permission: [
      {
        type: 'Active',
        id: 2,
        permission_name: 'active',
        threshold: 1,
        operations: `7fff1fc0033efb0f${'0'.repeat(48)}`,
        keys,
      },
    ],
    frozenV2: [{}, { type: 'ENERGY' }, { type: 'TRON_POWER' }],
    asset_optimized: true,
  };
}
