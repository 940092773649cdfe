/**
 * An account that withdraws on an EVM chain, decided by the real actor and chain module, with the rows that it wrote.
 */
import { HDNodeWallet, Transaction } from 'ethers';
import type { AccountCommand } from '../../model/account/capabilities.ts';
import { evm } from '../../chains/evm/index.ts';
import type { BroadcastResult, ChainModule, Intent, Signed } from '../../chains/chain.ts';
import type { AddressRow } from '../../model/rows/address.ts';
import type { Fact } from '../../model/rows/inbox.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { commands, enrolled, ses, txn, type TestAccount } from './account.ts';
import { inputsOf, RECIPIENT } from './evm-inputs.ts';

const PHRASE = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
const MODULES = [evm as ChainModule];
const LEADER = ses();

/** An account that withdraws from its first address, with rows as the store would read them back. */
export class Sender {
  readonly account: TestAccount;
  readonly from: AddressRow;
  readonly rows = new Map<string, WithdrawalRow>();
  #facts = 0;

  constructor(options: Parameters<typeof enrolled>[0] = {}, purpose: AddressRow['purpose'] = 'deposit') {
    this.account = enrolled({ modules: MODULES, ...options });
    const row = this.account.accept(commands.createAddress({ userRef: 'u-9' })).reply;
    this.from = { ...row, purpose };
    this.account.accept({ type: 'claim_lease', sessionId: LEADER, liveSessions: [] });
  }

  build(nonceLatest = 7, more: Partial<Intent> = {}): Extract<AccountCommand, { type: 'build_withdrawal' }> {
    const intent: Intent = {
      chain: 'eth',
      from: this.from.address,
      fromPath: this.from.derivationPath,
      to: RECIPIENT,
      amount: 1_000n,
      token: null,
      tag: null,
      ...more,
    };
    return {
      type: 'build_withdrawal',
      id: txn(),
      intent,
      inputs: inputsOf({ nonceLatest, noncePending: nonceLatest }),
      from: this.from,
      tokenSymbol: 'ETH',
      decimals: 18,
    };
  }

  /** Accepts a command and keeps the rows that it wrote. */
  do<C extends AccountCommand>(command: C) {
    const taken = this.account.accept(command);
    for (const write of taken.rows) {
      if (write.table === 'withdrawal') this.rows.set(write.row.id, write.row);
      if (write.table === 'withdrawal_status')
        this.rows.set(write.id, {
          ...this.rows.get(write.id)!,
          unsigned: unbound(this.rows.get(write.id)!),
          status: write.status,
          updatedAtMs: write.updatedAtMs,
        });
    }
    return taken;
  }

  built(nonceLatest = 7): WithdrawalRow {
    return this.do(this.build(nonceLatest)).reply;
  }

  bind(
    id: string,
    nonceLatest = 7,
    gaveUp: readonly string[] = [],
  ): Extract<AccountCommand, { type: 'bind_withdrawal' }> {
    return {
      type: 'bind_withdrawal',
      known: this.rows.get(id)!,
      inputs: inputsOf({ nonceLatest, noncePending: nonceLatest }),
      gaveUp,
    };
  }

  /** Built, and bound for the broadcast. */
  bound(nonceLatest = 7): WithdrawalRow {
    return this.do(this.bind(this.built(nonceLatest).id, nonceLatest)).reply;
  }

  submit(
    id: string,
    more: Partial<Extract<AccountCommand, { type: 'submit_signed' }>> = {},
  ): Extract<AccountCommand, { type: 'submit_signed' }> {
    const known = this.rows.get(id)!;
    return {
      type: 'submit_signed',
      known,
      signed: sign(known),
      sessionId: LEADER,
      leaseEpoch: this.account.state.lease.epoch,
      ...more,
    };
  }

  noted(id: string, result: BroadcastResult, txid = this.rows.get(id)!.txid!) {
    return this.do({ type: 'note_broadcast', known: this.rows.get(id)!, txid, result });
  }

  /** That a submit of the newest version is about to be made. */
  begun(id: string) {
    const known = this.rows.get(id)!;
    return this.do({ type: 'begin_submit', known, txid: known.txid! }).reply;
  }

  /** Built, signed and taken by a node. */
  sent(nonceLatest = 7): WithdrawalRow {
    const { id } = this.bound(nonceLatest);
    const { txid } = this.do(this.submit(id)).reply;
    this.noted(id, { kind: 'accepted', txid: txid! });
    return this.rows.get(id)!;
  }

  fact(
    id: string,
    kind: Extract<Fact, { withdrawalId: string }>['kind'],
    more: Partial<Extract<Fact, { withdrawalId: string }>> = {},
  ) {
    this.#facts += 1;
    const known = this.rows.get(id)!;
    const fact: Fact = {
      kind,
      withdrawalId: id,
      txid: known.txid!,
      height: 200,
      blockHash: '0xb1',
      success: true,
      reason: null,
      fee: '21000',
      ...more,
    };
    return this.do({
      type: 'apply_facts',
      inbox: [{ id: String(this.#facts), accountId: this.account.state.accountId, fact }],
      deposits: [],
      withdrawals: [known],
      addresses: [],
      depositIds: [''],
    });
  }

  nonceOf(id: string): number {
    const { replayKey } = this.rows.get(id)!.unsigned;
    return replayKey.kind === 'nonce' ? replayKey.value : -1;
  }

  status(id: string): string {
    return this.rows.get(id)!.status;
  }

  get told(): string[] {
    return this.account.published().map(({ event }) => event);
  }
}

function unbound({ unsigned: { boundAtMs: _, ...unsigned } }: WithdrawalRow): WithdrawalRow['unsigned'] {
  return unsigned;
}

/** The payload of a withdrawal, signed by the key at a path. */
export function sign({ unsigned }: Pick<WithdrawalRow, 'unsigned'>, path = unsigned.fromPath): Signed {
  const transaction = Transaction.from(unsigned.payload);
  transaction.signature = HDNodeWallet.fromPhrase(PHRASE, '', path).signingKey.sign(transaction.unsignedHash);
  return { chain: unsigned.chain, payload: transaction.serialized, txid: transaction.hash! };
}
