/** An account whose commands are decided and folded by hand: given, when, then, without store, clock or actor. */
import { createAccountEntity } from '../../actors/account/account.ts';
import { dayOf } from '../../actors/address/peak.ts';
import { createChainBook } from '../../actors/account/chain-book.ts';
import type { PushedPool } from '../../model/account/address.ts';
import type {
  AccountCommand,
  AccountEvent,
  AccountReplies,
  AccountState,
  RowWrite,
} from '../../model/account/capabilities.ts';
import type { Plan } from '../../model/account/plan.ts';
import { initialAccount } from '../../model/account/state.ts';
import type { ChainModule } from '../../chains/chain.ts';
import type { Refusal } from '../../protocol/errors.ts';
import { accountIdOf } from '../../protocol/ids.ts';
import { newId } from '../../protocol/node/ids.ts';
import { envelopeOf } from '../../protocol/schema/events.ts';
import type { Environment, Family, PooledChain } from '../../protocol/slugs.ts';
import { vector } from './vectors.ts';

export const NOW_MS = Date.UTC(2026, 6, 1, 12);
export const ORGANIZATION_ID = newId('org', NOW_MS, new Uint8Array(10));
export const IDENTITY = 'a'.repeat(64);
export const OTHER_IDENTITY = 'b'.repeat(64);
export const PLAN: Plan = { tier: 'ultimate', band: 'launch', subscription: 'active', paymentsActive: true };

interface AccountVector {
  accounts: {
    accountPath: string;
    xpub: string;
    purpose?: number;
    addresses: { relativePath: string; path: string; address: string }[];
  }[];
}
const VECTORS: Partial<Record<Family, AccountVector>> = {
  evm: vector('derivation/evm-bip44-60.json'),
  tron: vector('derivation/tron-bip44-195.json'),
  xrp: vector('derivation/xrp-bip44-144.json'),
  btc: vector('derivation/btc-bip44-49-84-86.json'),
};

/** An extended key of the published vectors with its addresses; `nth` is another phrase of the same file. */
export function keyVector(family: Family, nth = 0): AccountVector['accounts'][number] {
  const accounts = VECTORS[family]!.accounts.filter(({ purpose }) => family !== 'btc' || purpose === 84);
  return accounts[nth]!;
}

export function pushedKey(family: Family, nth = 0): { family: Family; xpub: string; accountPath: string } {
  const { xpub, accountPath } = keyVector(family, nth);
  return { family, xpub, accountPath };
}

const POOL_ADDRESSES: Record<PooledChain, readonly string[]> = {
  sol: [
    ...new Set(
      (
        vector('derivation/sol-bip44-501.json') as { accounts: { addresses: { path: string; address: string }[] }[] }
      ).accounts.flatMap(({ addresses }) => addresses.map(({ address }) => address)),
    ),
  ],
  xlm: [
    ...new Set(
      (
        vector('derivation/xlm-sep0005.json') as { published: { accounts: { publicKey: string }[] }[] }
      ).published.flatMap(({ accounts }) => accounts.map(({ publicKey }) => publicKey)),
    ),
  ],
};
const POOL_PATHS: Record<PooledChain, (index: number) => string> = {
  sol: (index) => `m/44'/501'/${index}'/0'`,
  xlm: (index) => `m/44'/148'/${index}'`,
};
const GAS_TANK_PATHS: Record<PooledChain, string> = { sol: "m/44'/501'/0'/1'/0'", xlm: "m/44'/148'/0'/1'/0'" };

/** Real addresses of the chain under the pool's paths; the last one is the gas tank. */
export function pushedPool(chain: PooledChain, count: number, from = 0): PushedPool {
  const known = POOL_ADDRESSES[chain];
  if (count + 1 > known.length) throw new RangeError(`the vectors hold ${known.length} addresses of ${chain}`);
  return {
    chain,
    addresses: known
      .slice(0, count)
      .map((address, place) => ({ index: from + place, address, path: POOL_PATHS[chain](from + place) })),
    gasTank: { address: known.at(-1)!, path: GAS_TANK_PATHS[chain] },
  };
}

let serial = 0;
const bytes = () => {
  serial += 1;
  const random = new Uint8Array(10);
  new DataView(random.buffer).setUint32(6, serial);
  return random;
};
export const adr = (): string => newId('adr', NOW_MS, bytes());
export const txn = (): string => newId('txn', NOW_MS, bytes());
export const dep = (): string => newId('dep', NOW_MS, bytes());
export const ses = (): string => newId('ses', NOW_MS, bytes());

/** Commands with what a test does not care about filled in. */
export const commands = {
  enrol: (
    more: Partial<Extract<AccountCommand, { type: 'enrol' }>> = {},
  ): Extract<AccountCommand, { type: 'enrol' }> => ({
    type: 'enrol',
    publicKey: IDENTITY,
    keys: [pushedKey('evm')],
    pools: [],
    rotationId: 'rot_1',
    addressIds: Array.from({ length: 10 }, adr),
    ...more,
  }),
  createAddress: (
    more: Partial<Extract<AccountCommand, { type: 'create_address' }>> = {},
  ): Extract<AccountCommand, { type: 'create_address' }> => ({
    type: 'create_address',
    id: adr(),
    chain: 'eth',
    userRef: 'customer-1',
    tag: null,
    label: null,
    paired: null,
    unissued: [],
    ...more,
  }),
};

export interface Taken<T extends AccountCommand['type']> {
  reply: AccountReplies[T];
  events: readonly AccountEvent[];
  rows: readonly RowWrite[];
}

export class TestAccount {
  readonly #entity;
  state: AccountState;
  nowMs = NOW_MS;
  readonly history: AccountEvent[] = [];
  readonly rows: RowWrite[] = [];
  readonly #initial: AccountState;

  constructor({
    environment = 'live',
    plan = {},
    modules = [],
    state,
  }: {
    environment?: Environment;
    plan?: Partial<Plan>;
    modules?: ChainModule[];
    state?: AccountState;
  } = {}) {
    this.#entity = createAccountEntity({ book: createChainBook(modules) });
    this.#initial = state ?? {
      ...initialAccount({
        accountId: accountIdOf(ORGANIZATION_ID, environment),
        organizationId: ORGANIZATION_ID,
        environment,
        plan: { ...PLAN, ...plan },
      }),
      // The day has begun, so that what a test decides is not preceded by its first peak.
      peak: { day: dayOf(NOW_MS), active: 0 },
    };
    this.state = this.#initial;
  }

  /** Decides without changing anything. */
  decide(command: AccountCommand) {
    return this.#entity.decide(this.state, command, this.nowMs);
  }

  /** Decides and folds. Throws: Error for a refusal. */
  accept<C extends AccountCommand>(command: C): Taken<C['type']> {
    const decision = this.decide(command);
    if (!decision.ok) {
      throw new Error(`${command.type} was refused: ${decision.code} ${JSON.stringify(decision.details)}`);
    }
    for (const event of decision.events) this.state = this.#entity.evolve(this.state, event);
    this.history.push(...decision.events);
    this.rows.push(...decision.rows);
    return { reply: decision.reply as AccountReplies[C['type']], events: decision.events, rows: decision.rows };
  }

  /** Decides; folds what is accepted. */
  attempt(command: AccountCommand): Refusal | null {
    const decision = this.decide(command);
    if (!decision.ok) return decision;
    this.accept(command);
    return null;
  }

  /** The refusal. Throws: Error when the command was accepted. */
  refused(command: AccountCommand): Refusal {
    const decision = this.decide(command);
    if (decision.ok) throw new Error(`${command.type} was accepted`);
    return decision;
  }

  /** An event that another decision made. */
  fold(event: AccountEvent): void {
    this.state = this.#entity.evolve(this.state, event);
    this.history.push(event);
  }

  /** What the events alone give. */
  folded(): AccountState {
    return this.history.reduce((state, event) => this.#entity.evolve(state, event), this.#initial);
  }

  /** Bodies of the publications so far. Throws: for one that is not in the form of the event catalogue. */
  published(): {
    event: string;
    id: string;
    confirmations: number | null;
    threshold: number | null;
    data: Record<string, unknown>;
  }[] {
    return rowsOf(this.rows, 'publication').map(({ row }) => {
      const body: unknown = JSON.parse(row.body);
      envelopeOf(row.event).parse(body);
      return body as ReturnType<TestAccount['published']>[number];
    });
  }
}

/** An enrolled account with EVM keys. */
export function enrolled(
  options: ConstructorParameters<typeof TestAccount>[0] = {},
  more: Partial<Extract<AccountCommand, { type: 'enrol' }>> = {},
): TestAccount {
  const account = new TestAccount(options);
  account.accept(commands.enrol(more));
  return account;
}

/** Rows of one table. */
export function rowsOf<T extends RowWrite['table']>(
  rows: readonly RowWrite[],
  table: T,
): Extract<RowWrite, { table: T }>[] {
  return rows.filter((row): row is Extract<RowWrite, { table: T }> => row.table === table);
}
