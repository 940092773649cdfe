/**
 * A cycle of a sweep policy from plan to end without a database: the account's own decisions, the chain's own client
 * over a ledger that is not ours, and an edge that makes every instruction itself. Rows are kept as the store would
 * give them back.
 */
import { advanceJob } from '../../actors/sweep/work.ts';
import { operationsOf, planOf, type Plan } from '../../actors/sweep/plan.ts';
import { isUntaken, submitNewest } from '../../actors/outgoing/submit.ts';
import { createWayOut } from '../../actors/outgoing/way-out.ts';
import { feePaid, takenOf } from '../../chain-watchers/follow/content.ts';
import { tankOf } from '../../actors/treasury/view.ts';
import type { ChainClient, ChainModule, Network, Signed, Token } from '../../chains/chain.ts';
import type { AccountCommand, RowWrite } from '../../model/account/capabilities.ts';
import type { SweepPolicy, SweepSettings } from '../../model/account/sweep.ts';
import type { ChainBinding } from '../../model/ports/chain-access.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { SweepJobRow, SweepOperationRow } from '../../model/rows/sweep.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { isRefusal, refuse } from '../../protocol/errors.ts';
import { newId, newUuid } from '../../protocol/node/ids.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { EdgeTreasury } from '../../protocol/frames.ts';
import { FAMILY_OF } from '../../protocol/slugs.ts';
import { commands, pushedKey, ses, TestAccount } from './account.ts';
import { EPOCH, operatingEdge, own, type EdgeOf, type OperatingEdge } from './edge/operations.ts';
import { addressRow } from './store-rows.ts';
import { leaderSaying, silentLeader } from './sweep-policy.ts';

export interface Ledger {
  readonly network: Network;
  readonly module: ChainModule;
  readonly client: ChainClient;
  readonly catalogue: ReadonlyMap<string, Token>;
  /** Makes blocks until what was submitted is as deep as anything asks. */
  mine(): void | Promise<void>;
  nowMs(): number;
}

export interface Told {
  /** A customer's address: its index below the account, and what is credited there. */
  readonly deposits: readonly { readonly index: number; readonly credited: bigint }[];
  readonly token: string | null;
  /** Null: the derived one. */
  readonly treasury: string | null;
  /** What is inside the treasury's own text beside its address. */
  readonly tag?: string;
  readonly edge?: EdgeOf;
  readonly settings?: Partial<SweepSettings>;
  /** What the tank keeps for jobs of other policies. */
  readonly keptForOthers?: bigint;
  /** So many answers of the edge are lost, with the bytes that it signed. */
  readonly lost?: number;
  /** The node dies at this step of the job, once: each write, submit and question to the edge has one on both sides. */
  readonly diesAt?: number;
}

class Died extends Error {}

const ROUNDS_MAX = 40;

export class TreasuryStory {
  readonly account: TestAccount;
  readonly edge: OperatingEdge;
  readonly withdrawals = new Map<string, WithdrawalRow>();
  readonly operations = new Map<string, SweepOperationRow>();
  job: SweepJobRow | null = null;
  readonly #ledger: Ledger;
  readonly #told: Told;
  readonly #leader = ses();
  readonly #addresses: readonly AddressRow[];
  #facts = 0;
  #lost: number;
  #steps = 0;
  #isDead = false;

  constructor(ledger: Ledger, told: Told) {
    const { network, module } = ledger,
      { slug, family } = network;
    this.#ledger = ledger;
    this.#told = told;
    this.#lost = told.lost ?? 0;
    this.edge = operatingEdge({ nowMs: ledger.nowMs, ...told.edge });
    this.account = new TestAccount({ modules: [module] });
    this.account.nowMs = ledger.nowMs();
    const { gasTank } = own.paths(slug);
    const isPooled = family === 'sol' || family === 'xlm';
    const pool = {
      chain: slug as 'sol' | 'xlm',
      addresses: told.deposits.map(({ index }) => ({
        index,
        path: depositPath(slug, index),
        address: own.addressAt(slug, depositPath(slug, index))!,
      })),
      gasTank: { address: own.addressAt(slug, gasTank!)!, path: gasTank! },
    };
    this.account.accept(
      commands.enrol({ keys: isPooled ? [pushedKey('evm')] : [pushedKey(family)], pools: isPooled ? [pool] : [] }),
    );
    this.account.accept({ type: 'claim_lease', sessionId: this.#leader, liveSessions: [] });
    this.#addresses = told.deposits.map(({ index }) => {
      const derivationPath = depositPath(slug, index),
        address = own.addressAt(slug, derivationPath)!;
      return addressRow(this.account.state.accountId as AccountId, { chain: slug, family, address, derivationPath });
    });
  }

  get tank(): string {
    return tankOf(this.account.state, this.#ledger.network.slug)!.address;
  }

  addressOf(index: number): string {
    return own.addressAt(this.#ledger.network.slug, depositPath(this.#ledger.network.slug, index))!;
  }

  get treasury(): string {
    const { slug } = this.#ledger.network;
    return this.#told.treasury ?? own.addressAt(slug, own.paths(slug).treasury!)!;
  }

  /** A job of what the plan finds. */
  async plan(said: EdgeTreasury | null = null): Promise<Plan> {
    const { network } = this.#ledger,
      { token, treasury, tag = null, settings } = this.#told;
    const chain = network.slug,
      nowMs = this.account.nowMs;
    const wallet = { id: newId('wal', nowMs), chain, tag, label: null } as const;
    this.account.accept({
      type: 'create_treasury_wallet',
      wallet:
        treasury === null
          ? { ...wallet, source: 'derived', address: null }
          : { ...wallet, source: 'external', address: treasury },
    });
    const gasFundingMode =
      chain === 'sol' || chain === 'xlm'
        ? 'FEE_PAYER'
        : FAMILY_OF[chain] === 'xrp' || token === null
          ? 'SELF'
          : 'FUNDING_WALLET';
    const fundingWalletId = gasFundingMode === 'SELF' ? null : newId('fwl', nowMs);
    if (fundingWalletId !== null)
      this.account.accept({
        type: 'create_funding_wallet',
        wallet: { id: fundingWalletId, chain, label: null, lowBalance: null },
      } as AccountCommand);
    const id = newUuid(nowMs);
    this.account.accept({
      type: 'create_sweep_policy',
      id,
      settings: {
        chain,
        token,
        enabled: true,
        triggerMode: 'MANUAL',
        minAmount: null,
        scheduleCron: null,
        scheduleTimeZone: 'UTC',
        treasuryWalletId: wallet.id,
        gasFundingMode,
        fundingWalletId,
        dustFloor: '1',
        maxFeeRatioBps: null,
        abortIfGasExceeds: null,
        pauseOnConsecutiveFailures: 3,
        retainGasFloat: 0,
        closeTokenAccounts: false,
        energy: null,
        ...settings,
      },
    });
    const policy = this.account.state.sweepPolicies[0] as SweepPolicy;
    const page = { floor: 1n, from: 0, most: 500 };
    const plan = await planOf(
      {
        ...leaderSaying(said),
        chains: { bind: async () => this.#binding(), tokens: silentLeader.chains.tokens },
        sweeps: { candidates: async () => this.#candidates(), promised: async () => this.#promised() },
        rates: { rate: async () => null },
        nowMs: () => this.account.nowMs,
      },
      this.account.state,
      policy,
      'manual',
      page,
    );
    if (isRefusal(plan)) throw new Error(`${plan.code} ${JSON.stringify(plan.details)}`);
    this.#ask({
      type: 'run_sweep_policy',
      id,
      version: policy.version,
      trigger: 'manual',
      jobId: newId('swj', nowMs),
      operations: operationsOf(plan, nowMs),
      seen: null,
      beside: plan.beside,
    });
    return plan;
  }

  /** Rounds of the job until it ended. */
  async run(): Promise<SweepJobRow> {
    for (let round = 0; round < ROUNDS_MAX && this.job!.endedAtMs === null; round += 1) await this.rounds(1);
    return this.job!;
  }

  /** So many rounds of the job, and what a watcher says after each. */
  async rounds(count: number): Promise<void> {
    for (let round = 0; round < count; round += 1) {
      this.account.nowMs = Math.max(this.account.nowMs + 1, this.#ledger.nowMs());
      this.#isDead = false;
      await advanceJob(this.#parts(), this.account.state.accountId as AccountId, this.job!.id).catch(
        (error: unknown) => {
          if (!this.#isDead) throw error;
        },
      );
      await this.#ledger.mine();
      await this.#watch();
    }
  }

  /** How many steps at which a node may die its rounds have come to. */
  get steps(): number {
    return this.#steps;
  }

  /** An effect of a round. A node that is dead has none, whoever caught its end. */
  async #alive<Answer>(effect: () => Answer | Promise<Answer>): Promise<Answer> {
    this.#step();
    const answer = await effect();
    this.#step();
    return answer;
  }

  #step(): void {
    this.#steps += 1;
    this.#isDead ||= this.#steps === this.#told.diesAt;
    if (this.#isDead) throw new Died('the node died');
  }

  /** Operations by address index. */
  operationAt(index: number): SweepOperationRow {
    return [...this.operations.values()].find(({ address }) => address === this.addressOf(index))!;
  }

  #binding(): ChainBinding {
    const { module, network, client, catalogue } = this.#ledger;
    return { module, network, client, catalogue };
  }

  #candidates() {
    return this.#told.deposits.map(({ index, credited }) => ({
      address: this.addressOf(index),
      path: depositPath(this.#ledger.network.slug, index),
      userRef: null,
      credited,
      openOperationId: null,
      isObserved: false,
      isPaying: false,
    }));
  }

  /** What the tank keeps, as the store sums it. W9. */
  #promised(): bigint {
    const kept = [...this.operations.values()].filter(({ state, funding, sweepId, fundId }) => {
      const isOfSweep = (state === 'SIGNING' || state === 'BROADCAST') && funding === null;
      return !ENDED.has(state) && this.withdrawals.get(isOfSweep ? sweepId : fundId)?.height == null;
    });
    return kept.reduce((sum, { promised }) => sum + promised, this.#told.keptForOthers ?? 0n);
  }

  #ask(command: AccountCommand) {
    const decision = this.account.decide(command);
    if (!decision.ok) return decision;
    const { reply, rows } = this.account.accept(command);
    this.#keep(rows);
    return { ok: true as const, reply };
  }

  #keep(rows: readonly RowWrite[]): void {
    for (const write of rows) {
      if (write.table === 'withdrawal') this.withdrawals.set(write.row.id, write.row);
      if (write.table === 'withdrawal_status') {
        const { boundAtMs: _, ...unsigned } = this.withdrawals.get(write.id)!.unsigned;
        const { status, updatedAtMs } = write;
        this.withdrawals.set(write.id, { ...this.withdrawals.get(write.id)!, unsigned, status, updatedAtMs });
      }
      if (write.table === 'sweep_operations') this.operations.set(write.row.id, write.row);
      if (write.table === 'sweep_jobs') this.job = write.row;
    }
  }

  #parts(): Parameters<typeof advanceJob>[0] {
    const ask = async (_: AccountId, command: AccountCommand) => this.#alive(() => this.#ask(command));
    const accounts = { ask } as never;
    const addressByText = async (_: AccountId, chain: string, address: string) =>
      this.#addresses.find((row) => row.address === address) ?? this.#tankRow(chain, address);
    const reads = {
      addressByText,
      usedValue: async () => null,
      withdrawal: async (_: AccountId, id: string) => this.withdrawals.get(id) ?? null,
    } as never;
    const binding = this.#binding(),
      { client } = binding;
    const broadcast = (signed: Signed) => this.#alive(() => client.broadcast(signed));
    const way = new Proxy(client, { get: (of, name) => (name === 'broadcast' ? broadcast : memberOf(of, name)) });
    const chains = {
      bind: async () => ({ ...binding, client: way }),
      enabled: () => [this.#ledger.network.slug],
    } as never;
    const openOperation = async (_: AccountId, __: string, address: string) =>
      [...this.operations.values()].find((one) => one.address === address && !ENDED.has(one.state)) ?? null;
    const nowMs = () => this.account.nowMs;
    const wayOut = createWayOut({
      accounts,
      chains,
      reads,
      sweeps: { openOperation },
      screened: [],
      nowMs,
      log: { warn: () => undefined, error: () => undefined } as never,
    });
    return {
      accounts,
      chains,
      reads,
      sweeps: {
        job: async () => this.job,
        operations: async () => [...this.operations.values()],
        openOperation,
        isPaying: async () => false,
        promised: async () => this.#promised(),
      },
      wayOut,
      nowMs,
      edges: {
        askToOperate: async (_, frame) => {
          const said = await this.#alive(() => this.edge.operations.onFrame({ ...frame, leaseEpoch: EPOCH }));
          if ((this.#lost -= 1) >= 0) return refuse('SERVICE_UNAVAILABLE') as never;
          const signature = this.edge.instructions
            .signaturesOf(frame.transactionId)
            .find(({ payload }) => payload === frame.unsigned.payload);
          if (signature?.signed == null) return said as never;
          const known = this.withdrawals.get(frame.transactionId)!;
          const { epoch } = this.account.state.lease;
          const taken = await wayOut.submit(known, signature.signed, { sessionId: this.#leader, leaseEpoch: epoch });
          return isRefusal(taken) ? taken : ({ ok: true } as never);
        },
      },
    };
  }

  #tankRow(chain: string, address: string): AddressRow | null {
    const { slug, family } = this.#ledger.network,
      { gasTank } = own.paths(slug);
    if (chain !== slug || address !== this.tank) return null;
    const more = { chain: slug, family, address, derivationPath: gasTank!, purpose: 'gas_tank' as const };
    return addressRow(this.account.state.accountId as AccountId, more);
  }

  /** What a watcher would tell of transactions that are out. */
  async #watch(): Promise<void> {
    for (const row of [...this.withdrawals.values()]) {
      if (row.versions.length === 0 || row.status === 'confirmed' || row.status === 'failed') continue;
      const { fate, txid } = await this.#fateOf(row);
      // The tracker's: what a node may not have gets the same bytes again.
      if (fate.kind === 'unknown' || (fate.kind === 'pending' && isUntaken(row))) {
        const asking = async (_: AccountId, command: AccountCommand) => this.#ask(command);
        const { client } = this.#ledger;
        await submitNewest({ client, accounts: { ask: asking } as never, place: 'submit' }, row);
      }
      if (fate.kind === 'dead')
        this.#fact(row, 'withdrawal_dead', { height: 0, blockHash: '', success: false, reason: fate.proof, fee: null });
      if (fate.kind !== 'included') continue;
      const { success, reason } = fate.outcome;
      const seen = {
        height: fate.height,
        blockHash: fate.hash,
        success,
        reason,
        fee: feePaid(this.#ledger.module, row, { ...fate.outcome, txid }),
        ...takenOf(fate.outcome),
        txid,
      };
      this.#fact(row, 'withdrawal_included', seen);
      this.#fact(this.withdrawals.get(row.id)!, 'withdrawal_matured', seen);
    }
  }

  /** Of the version that landed, else of the newest. */
  async #fateOf(row: WithdrawalRow) {
    for (const { txid } of row.versions) {
      const fate = await this.#ledger.client.getFate(row.unsigned, txid);
      if (fate.kind === 'included') return { fate, txid };
    }
    return {
      fate: await this.#ledger.client.getFate(row.unsigned, row.versions.at(-1)!.txid),
      txid: row.versions.at(-1)!.txid,
    };
  }

  #fact(
    known: WithdrawalRow,
    kind: 'withdrawal_included' | 'withdrawal_matured' | 'withdrawal_dead',
    more: {
      height: number;
      blockHash: string;
      success: boolean;
      reason: string | null;
      fee: string | null;
      taken?: string;
      txid?: string;
    },
  ): void {
    this.#facts += 1;
    const answer = this.#ask({
      type: 'apply_facts',
      inbox: [
        {
          id: String(this.#facts),
          accountId: this.account.state.accountId as AccountId,
          fact: { kind, withdrawalId: known.id, txid: known.versions.at(-1)!.txid, ...more },
        },
      ],
      deposits: [],
      withdrawals: [known],
      addresses: [],
      depositIds: [''],
    });
    if (!answer.ok) throw new Error(refuse(answer.code, answer.details).message);
  }
}

const ENDED: ReadonlySet<string> = new Set(['CONFIRMED', 'FAILED', 'SKIPPED']);

function memberOf<Of extends object>(of: Of, name: string | symbol): unknown {
  const member: unknown = Reflect.get(of, name);
  return typeof member === 'function' ? (member.bind(of) as unknown) : member;
}

/**
 * A7 of treasury, A4: the job of a world with a death at every step of it, one world each. Whatever the step, the job
 * ends, and no address is swept or funded twice. Answers how many deaths there were.
 */
export async function dieEverywhere(
  open: (diesAt: number) => TreasuryStory | Promise<TreasuryStory>,
  check: (story: TreasuryStory, diesAt: number) => void | Promise<void>,
): Promise<number> {
  for (let diesAt = 1; ; diesAt += 1) {
    const story = await open(diesAt);
    await story.plan();
    const job = await story.run();
    if (job.endedAtMs === null) throw new Error(`after a death at step ${diesAt} the job does not end`);
    const landed = [...story.withdrawals.values()].filter(({ height }) => height !== null);
    for (const [pair, rows] of Map.groupBy(landed, ({ from, to }) => `${from} ${to}`))
      if (rows.length > 1) throw new Error(`after a death at step ${diesAt} ${pair} landed ${rows.length} times`);
    await check(story, diesAt);
    if (story.steps < diesAt) return diesAt - 1;
  }
}

/** Path of a customer's address. */
function depositPath(chain: Network['slug'], index: number): string {
  switch (FAMILY_OF[chain]) {
    case 'sol':
      return `m/44'/501'/${index}'/0'`;
    case 'xlm':
      return `m/44'/148'/${index}'`;
    case 'tron':
      return `m/44'/195'/0'/0/${index}`;
    case 'xrp':
      return `m/44'/144'/0'/0/${index}`;
    case 'evm':
      return `m/44'/60'/0'/0/${index}`;
    case 'btc':
      return `m/84'/0'/0'/0/${index}`;
  }
}
