/** The state of the stand-in's ledger: accounts, contracts, the committee's parameters. A block's state is a copy. */

export interface Account {
  balance: bigint;
  isContract: boolean;
  createdMs: number;
  /**
   * Bytes and units that staking gives, and what of everything was used. Nothing recovers: a test is shorter than a
   * day.
   */
  netLimit: bigint;
  netUsed: bigint;
  freeNetUsed: bigint;
  energyLimit: bigint;
  energyUsed: bigint;
}

export interface Trc20 {
  readonly kind: 'trc20';
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  /** USDT on TRON answers `false` to transfers that succeed. */
  readonly returnsFalse: boolean;
  /** A transfer neither moves nor logs nor reverts: it answers `false` and means it. */
  readonly movesNothing: boolean;
  /** Share of the energy that the dynamic model adds, percent. */
  penaltyPercent: bigint;
  paused: boolean;
  blacklist: Set<string>;
  balances: Map<string, bigint>;
  /** `owner spender` → what the spender may move. */
  allowances: Map<string, bigint>;
}

/** Sends the TRX of a call on, which only internal transactions show. */
export interface Payout {
  readonly kind: 'payout';
}
/** Moves tokens of the caller by `transferFrom`, as exchanges do in batches. */
export interface Disperser {
  readonly kind: 'disperser';
}
export type Contract = Trc20 | Payout | Disperser;

export interface World {
  readonly accounts: Map<string, Account>;
  readonly contracts: Map<string, Contract>;
}

export interface Parameters {
  transactionFee: bigint;
  energyFee: bigint;
  createAccountFee: bigint;
  newAccountFee: bigint;
  createAccountRate: bigint;
  maxFeeLimit: bigint;
  memoFee: bigint;
  freeNetLimit: bigint;
  /** Free bandwidth that all accounts together may use; 0: used up. */
  publicNetLeft: bigint;
}

/** The main network's values where they are known, part 13 of chains.md where they are not. */
export const defaultParameters = (): Parameters => ({
  transactionFee: 1_000n,
  energyFee: 100n,
  createAccountFee: 100_000n,
  newAccountFee: 1_000_000n,
  createAccountRate: 1n,
  maxFeeLimit: 15_000_000_000n,
  memoFee: 1_000_000n,
  freeNetLimit: 600n,
  publicNetLeft: 14_400_000_000n,
});

export const emptyWorld = (): World => ({ accounts: new Map(), contracts: new Map() });

/** A copy that shares nothing. */
export function copyOf(world: World): World {
  return structuredClone(world);
}

/** The account at an address, created with nothing where there is none. */
export function touch(world: World, address: string, createdMs: number, isContract = false): Account {
  const known = world.accounts.get(address);
  if (known !== undefined) return known;
  const account: Account = {
    balance: 0n,
    isContract,
    createdMs,
    netLimit: 0n,
    netUsed: 0n,
    freeNetUsed: 0n,
    energyLimit: 0n,
    energyUsed: 0n,
  };
  world.accounts.set(address, account);
  return account;
}
