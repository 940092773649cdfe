/** Accounts, their resources and their balances as one node reports them. */
import { z } from 'zod';
import { ChainUnavailable, type Balance, type Block, type Endpoint, type Network, type Token } from '../chain.ts';
import { objectIn } from '../node-answer.ts';
import { balanceOf } from './balance.ts';
import { callConstant } from './constant-call.ts';
import type { Heads } from './heads.ts';
import { ask, integer, parsed, wallet } from './node.ts';
import { addressWord, decodeWord } from './trc20.ts';

export interface Account {
  readonly exists: boolean;
  readonly isContract: boolean;
  readonly balance: bigint;
}

/** An account of an endpoint; `{}` is one that does not exist. Throws: ChainUnavailable, MalformedReply. */
export async function readAccount(network: Network, endpoint: Endpoint, address: string): Promise<Account> {
  const answer = objectIn(await ask(network, endpoint, wallet('getaccount', { address, visible: true })), 'account');
  const { amount: balance, accountExists: exists } = balanceOf(answer);
  return { exists, isContract: answer['type'] === 'Contract', balance };
}

const resources = z.object({
  freeNetLimit: integer,
  freeNetUsed: integer,
  NetLimit: integer,
  NetUsed: integer,
  EnergyLimit: integer,
  EnergyUsed: integer,
});

/** What an account may use without paying for it: bandwidth in bytes, energy in units. */
export interface Resources {
  readonly stakedBandwidth: bigint;
  readonly freeBandwidth: bigint;
  readonly energy: bigint;
}

const left = (limit: bigint, used: bigint): bigint => (limit > used ? limit - used : 0n);

/** The resources of an account; one that does not exist has none. Throws: ChainUnavailable, MalformedReply. */
export async function readResources(network: Network, endpoint: Endpoint, address: string): Promise<Resources> {
  const answer = await ask(network, endpoint, wallet('getaccountresource', { address, visible: true }));
  const { freeNetLimit, freeNetUsed, NetLimit, NetUsed, EnergyLimit, EnergyUsed } = parsed(
    resources,
    answer,
    'account resources',
  );
  return {
    stakedBandwidth: left(NetLimit, NetUsed),
    freeBandwidth: left(freeNetLimit, freeNetUsed),
    energy: left(EnergyLimit, EnergyUsed),
  };
}

/**
 * A token balance, also of an account that does not exist. Throws: ChainUnavailable for a contract that answers none.
 */
export async function readTokenBalance(
  network: Network,
  endpoint: Endpoint,
  address: string,
  contract: string,
): Promise<bigint> {
  const outcome = await callConstant(network, endpoint, {
    owner: address,
    contract,
    selector: 'balanceOf(address)',
    parameter: addressWord(address),
  });
  const amount = outcome.kind === 'returned' ? decodeWord(outcome.answer) : null;
  if (amount === null) throw new ChainUnavailable(network.slug, `${contract} answers no balance`);
  return amount;
}

/** A balance of an endpoint that is not behind. Throws: ChainUnavailable, MalformedReply. */
export async function readBalance(
  network: Network,
  heads: Heads,
  endpoint: Endpoint,
  address: string,
  token: Token | null,
): Promise<Balance> {
  await heads.headOf(endpoint);
  const { exists: accountExists, balance } = await readAccount(network, endpoint, address);
  const amount = token === null ? balance : await readTokenBalance(network, endpoint, address, token.contract);
  const decimals = token?.decimals ?? network.nativeDecimals;
  return { amount, reserved: 0n, available: amount, decimals, accountExists };
}

const blockBalance = z.object({ block_identifier: z.object({ hash: z.string() }) });
const accountBalance = z.object({ balance: integer });

/**
 * TRX balances at one block, in the order asked (V7). Only a node with `storage.balance.history.lookup` has them; one
 * without it answers 0 to everything, so the block's own trace must be there first. Throws: ChainUnavailable.
 */
export async function readBalancesAt(
  network: Network,
  endpoint: Endpoint,
  addresses: readonly string[],
  { height, hash }: Pick<Block, 'height' | 'hash'>,
): Promise<bigint[]> {
  const block = { hash, number: height };
  const trace = blockBalance.safeParse(await ask(network, endpoint, wallet('getblockbalance', block)));
  if (!trace.success || trace.data.block_identifier.hash !== hash) {
    throw new ChainUnavailable(network.slug, 'the node keeps no balances by block');
  }
  const balances: bigint[] = [];
  for (const address of addresses) {
    const body = { account_identifier: { address }, block_identifier: block, visible: true };
    balances.push(
      parsed(accountBalance, await ask(network, endpoint, wallet('getaccountbalance', body)), 'balance at a block')
        .balance,
    );
  }
  return balances;
}
