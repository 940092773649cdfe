/** Transfers of a block against watched addresses; what pays none of them is forgotten at once. Pure. */
import { MalformedReply, type Block, type ChainModule, type Network, type Transfer } from '../../chains/chain.ts';
import type { BlockRecord, WatchedAddress } from '../../model/ports/watch-store.ts';
import type { AccountId, LedgerId } from '../../protocol/ids.ts';
import { addressKeyOf } from '../../protocol/node/ids.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { Environment } from '../../protocol/slugs.ts';
import { thresholdOf } from '../maturity/confirmations.ts';

/** A transfer with the key of the address that it pays. G6: the key is made of decoded bytes. */
export interface KeyedTransfer extends Transfer {
  readonly addressKey: string;
}

/** The decoded transfers of one block, kept for a second match. */
export interface KeyedBlock {
  readonly height: number;
  readonly hash: string;
  readonly transfers: readonly KeyedTransfer[];
  /** Movements that endpoints report differently, to addresses that nobody watched: not among the transfers. */
  readonly disputed?: readonly KeyedTransfer[];
}

/**
 * Transfers with their address keys, each credit key (txid, output index) once: a node that reports a movement twice
 * (C2-21) still makes one deposit. Zero amounts are none (G22); a payee that is no address of the chain cannot be ours.
 * Throws: MalformedReply when two different movements carry one credit key.
 */
export function keyed(
  module: ChainModule,
  network: Network,
  environment: Environment,
  block: Pick<Block, 'height' | 'hash'>,
  transfers: readonly Transfer[],
): KeyedBlock {
  const keys = new Map<string, string | null>();
  const unique = new Map<string, KeyedTransfer>();
  for (const transfer of transfers) {
    if (transfer.amount <= 0n) continue;
    let addressKey = keys.get(transfer.to);
    if (addressKey === undefined) {
      addressKey = keyOf(module, network, environment, transfer.to);
      keys.set(transfer.to, addressKey);
    }
    if (addressKey === null) continue;
    const creditKey = `${transfer.txid}:${transfer.outputIndex}`;
    const earlier = unique.get(creditKey);
    if (earlier === undefined) unique.set(creditKey, { ...transfer, addressKey });
    else if (!sameMovement(earlier, transfer))
      throw new MalformedReply('two movements under one credit key', creditKey);
  }
  return { height: block.height, hash: block.hash, transfers: [...unique.values()] };
}

/** The key of a payee's address; null when the text is no address of the chain. */
export function keyOf(module: ChainModule, network: Network, environment: Environment, to: string): string | null {
  if (module.bytesOf !== undefined) return addressKeyOf(environment, network.family, module.bytesOf(to));
  const parsed = module.parseAddress(network, to);
  return isRefusal(parsed) ? null : addressKeyOf(environment, network.family, parsed.bytes);
}

function sameMovement(a: Transfer, b: Transfer): boolean {
  return a.to === b.to && a.amount === b.amount && a.tokenContract === b.tokenContract;
}

export interface MatchContext {
  readonly ledger: LedgerId;
  readonly network: Network;
  /** Set on a sandbox ledger: only its own account is paid there. */
  readonly only: AccountId | null;
}

/**
 * Facts for the transfers that pay an issued address. The whole address is compared on a hit, not its key alone. The
 * account's own gas tank and treasury are not customers' (G20); senders go along so that the account can recognise its
 * own jobs and change (G20, G21).
 */
export function matchTransfers(
  context: MatchContext,
  block: KeyedBlock,
  watched: ReadonlyMap<string, WatchedAddress>,
): BlockRecord['transfers'] {
  const { ledger, network, only } = context;
  return block.transfers.flatMap((transfer) => {
    const address = watched.get(transfer.addressKey);
    if (address === undefined || address.address !== transfer.to || address.purpose !== 'deposit') return [];
    if (only !== null && address.accountId !== only) return [];
    return [
      {
        ledger,
        chain: network.slug,
        txid: transfer.txid,
        outputIndex: transfer.outputIndex,
        addressId: address.addressId,
        address: address.address,
        amount: transfer.amount.toString(),
        decimals: transfer.decimals,
        tokenContract: transfer.tokenContract,
        tokenSymbol: transfer.tokenSymbol,
        chainTag: transfer.tag,
        from: [...transfer.from],
        activates: transfer.activates ?? false,
        threshold: thresholdOf(network, transfer.threshold),
        height: block.height,
        blockHash: block.hash,
        confirmations: 1, // G18: a fact is seen at one confirmation, however late it is found.
        accountId: address.accountId,
        addressKey: transfer.addressKey,
      },
    ];
  });
}
