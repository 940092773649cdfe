/**
 * A withdrawal of all that an address holds, on every family that prices it anew: whatever is built, priced, signed and
 * broadcast, and whichever version blocks take and lose, in any order, amount and fee are those of the version in the
 * chain.
 */
import test from 'ava';
import fc from 'fast-check';
import { HDNodeWallet } from 'ethers';
import { btc } from '../../../chains/btc/index.ts';
import { bitcoin } from '../../../chains/btc/network.ts';
import { evm } from '../../../chains/evm/index.ts';
import { eth } from '../../../chains/evm/network.ts';
import { xlm } from '../../../chains/xlm/index.ts';
import { stellar } from '../../../chains/xlm/network.ts';
import { xrp } from '../../../chains/xrp/index.ts';
import { xrp as xrpLedger } from '../../../chains/xrp/network.ts';
import type { BuildInputs, ChainModule, Network } from '../../../chains/chain.ts';
import { btcSigner } from '../../../edge/signing/signers/btc.ts';
import { evmSigner } from '../../../edge/signing/signers/evm.ts';
import type { Signer } from '../../../edge/signing/signers/signer.ts';
import { xlmSigner } from '../../../edge/signing/signers/xlm.ts';
import { xrpSigner } from '../../../edge/signing/signers/xrp.ts';
import { builtView } from '../../../gateway/http/views.ts';
import type { AccountCommand } from '../../../model/account/capabilities.ts';
import type { Fact } from '../../../model/rows/inbox.ts';
import type { WithdrawalRow } from '../../../model/rows/withdrawal.ts';
import { movesForward } from '../../../persistence/memory/withdrawal-moves.ts';
import { commands, enrolled, rowsOf, ses, txn, type TestAccount } from '../../support/account.ts';
import * as btcStage from '../../support/btc-inputs.ts';
import * as evmStage from '../../support/evm-inputs.ts';
import * as xlmStage from '../../support/xlm-inputs.ts';
import { ours as xlmOurs } from '../../support/xlm-node.ts';
import * as xrpStage from '../../support/xrp-inputs.ts';
import { ours as xrpOurs } from '../../support/xrp-node.ts';

interface Stage {
  readonly network: Network;
  readonly module: ChainModule;
  readonly signer: Signer;
  readonly own: { readonly address: string; readonly path: string; readonly key: { readonly privateKey: Uint8Array } };
  readonly to: string;
  /** What the chain says when the fee was raised so many times. */
  inputs(turn: number): BuildInputs;
}

const coin = btcStage.coinOf(1_000_000n);
const phrase = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
const STAGES: Readonly<Record<'evm' | 'btc' | 'xrp' | 'xlm', Stage>> = {
  evm: {
    network: eth,
    module: evm as ChainModule,
    signer: evmSigner,
    own: {
      address: evmStage.SENDER,
      path: evmStage.SENDER_PATH,
      key: {
        privateKey: Buffer.from(HDNodeWallet.fromPhrase(phrase, '', evmStage.SENDER_PATH).privateKey.slice(2), 'hex'),
      },
    },
    to: evmStage.RECIPIENT,
    inputs: (turn) => evmStage.inputsOf({ readAtHeight: 100 + turn, nonceLatest: 7, noncePending: 7 }),
  },
  btc: {
    network: bitcoin,
    module: btc as ChainModule,
    signer: btcSigner,
    own: { ...btcStage.SENDER, key: { privateKey: btcStage.SENDER.privateKey } },
    to: btcStage.RECIPIENT,
    inputs: (turn) =>
      btcStage.inputsOf({
        coins: [coin],
        estimateSatPerKvb: String(10_000 * (1 + turn)),
        readAtHeight: 800_100 + turn,
      }),
  },
  xrp: {
    network: xrpLedger,
    module: xrp as ChainModule,
    signer: xrpSigner,
    own: xrpOurs(0, 0),
    to: xrpOurs(0, 1).address,
    inputs: (turn) =>
      xrpStage.inputsOf({ openLedgerFeeDrops: String(10 + 20 * turn), readAtHeight: 90_000_000 + turn }),
  },
  xlm: {
    network: stellar,
    module: xlm as ChainModule,
    signer: xlmSigner,
    own: xlmOurs(0),
    to: xlmOurs(1).address,
    // A signed one is built anew when it has expired; its hash may be in a block all the same.
    inputs: (turn) =>
      xlmStage.inputsOf(xlmOurs(0).address, {
        marketFee: String(100 * (1 + turn)),
        closeTime: xlmStage.CLOSED_AT + 100_000 * turn,
        readAtHeight: 50_000_000 + turn,
      }),
  },
};

const LEADER = ses();
type Act = 'reprice' | 'sign' | 'accept' | 'unknown' | 'include' | 'mature' | 'orphan' | 'move' | 'replace' | 'batch';
const ACTS: readonly Act[] = [
  'reprice',
  'sign',
  'accept',
  'unknown',
  'include',
  'mature',
  'orphan',
  'move',
  'replace',
  'batch',
];
interface Step {
  readonly act: Act;
  readonly which: number;
}
type Kind = 'withdrawal_included' | 'withdrawal_matured' | 'withdrawal_orphaned';

class SendAll {
  readonly account: TestAccount;
  readonly amounts = new Map<string, bigint>();
  row: WithdrawalRow;
  /** The version that is in the chain, with its block. */
  landed: { readonly txid: string; readonly height: number } | null = null;
  readonly #stage: Stage;
  #waiting: { id: string; accountId: WithdrawalRow['accountId']; fact: Fact }[] = [];
  #count = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.account = enrolled({ modules: [evm as ChainModule, stage.module] });
    const issued = this.account.accept(commands.createAddress({ userRef: 'u-9' })).reply;
    this.account.accept({ type: 'claim_lease', sessionId: LEADER, liveSessions: [] });
    const { network, own, to } = stage;
    const from = { ...issued, chain: network.slug, address: own.address, derivationPath: own.path };
    const intent = {
      chain: network.slug,
      from: own.address,
      fromPath: own.path,
      to,
      amount: 'all',
      token: null,
      tag: null,
    } as const;
    this.row = this.account.accept({
      type: 'build_withdrawal',
      id: txn(),
      intent,
      inputs: stage.inputs(0),
      from,
      tokenSymbol: network.nativeSymbol,
      decimals: network.nativeDecimals,
    }).reply;
    if (stage.module.withCounter !== undefined)
      this.#do({ type: 'bind_withdrawal', known: this.row, inputs: stage.inputs(0), gaveUp: [] });
  }

  feeOf = (txid: string): bigint => 1_000n + BigInt([...this.amounts.keys()].indexOf(txid));

  #do(command: AccountCommand): boolean {
    if (!this.account.decide(command).ok) return false;
    const { rows } = this.account.accept(command);
    for (const { row } of rowsOf(rows, 'withdrawal')) {
      if (!movesForward(this.row, row)) throw new Error('the database refuses it');
      this.row = row;
    }
    return true;
  }

  #tell(...facts: readonly (readonly [kind: Kind, at: { txid: string; height: number }])[]): void {
    for (const [kind, { txid, height }] of facts)
      this.#waiting.push({
        id: String((this.#count += 1)),
        accountId: this.row.accountId,
        fact: {
          kind,
          withdrawalId: this.row.id,
          txid,
          height,
          blockHash: `b${height}`,
          success: true,
          reason: null,
          fee: kind === 'withdrawal_orphaned' ? null : String(this.feeOf(txid)),
        },
      });
    while (this.#waiting.length > 0) {
      const inbox = this.#waiting;
      const { reply, rows } = this.account.accept({
        type: 'apply_facts',
        inbox,
        deposits: [],
        withdrawals: [this.row],
        addresses: [],
        depositIds: inbox.map(() => ''),
      });
      if (reply.applied === 0) throw new Error('nothing is applied');
      for (const { row } of rowsOf(rows, 'withdrawal')) {
        if (!movesForward(this.row, row)) throw new Error('the database refuses it');
        this.row = row;
      }
      this.#waiting = inbox.slice(reply.applied);
    }
  }

  act({ act, which }: Step): void {
    const { row, landed } = this,
      txids = row.versions.map(({ txid }) => txid),
      txid = txids[which % Math.max(1, txids.length)];
    const at = (of: string) => (this.landed = { txid: of, height: 200 + (this.#count += 1) });
    switch (act) {
      case 'reprice':
        return void this.#do({
          type: 'reprice_withdrawal',
          known: row,
          inputs: this.#stage.inputs((this.#count += 1)),
        });
      case 'sign': {
        if (txids.length > 0 && row.versions.at(-1)!.payload === row.unsigned.payload) return;
        const signed = this.#stage.signer.sign(this.#stage.network, row.unsigned, this.#stage.own.key);
        const { epoch } = this.account.state.lease;
        if (this.#do({ type: 'submit_signed', known: row, signed, sessionId: LEADER, leaseEpoch: epoch }))
          this.amounts.set(signed.txid, row.unsigned.amount);
        return;
      }
      default:
    }
    if (txid === undefined) return;
    if (act === 'accept' || act === 'unknown') {
      const result =
        act === 'accept' ? ({ kind: 'accepted', txid } as const) : ({ kind: 'unknown', reason: 'late' } as const);
      this.#do({ type: 'note_broadcast', known: row, txid, result });
    } else if (landed === null) {
      if (act === 'include') this.#tell(['withdrawal_included', at(txid)]);
    } else if (act === 'mature') this.#tell(['withdrawal_matured', landed]);
    else if (act === 'move') this.#tell(['withdrawal_included', at(landed.txid)]);
    else if (act === 'orphan') {
      this.landed = null;
      this.#tell(['withdrawal_orphaned', landed]);
    } else if (act === 'replace' && row.status === 'confirming') this.#tell(['withdrawal_included', at(txid)]);
    else if (act === 'batch' || act === 'replace')
      this.#tell(
        ['withdrawal_orphaned', landed],
        ['withdrawal_included', at(txid)],
        ['withdrawal_matured', this.landed!],
      );
  }

  /** What is wrong; null for nothing. */
  fault(): string | null {
    const { row, landed, amounts } = this;
    if (row.amount !== (row.txid === null ? row.unsigned.amount : amounts.get(row.txid)))
      return 'the amount is not that of the txid';
    if (builtView(row).amount !== String(row.unsigned.amount))
      return 'a build is answered with another amount than its payload';
    if ((row.height === null) !== (landed === null)) return 'in a block or not';
    if (landed !== null) {
      const { txid, height } = landed;
      if (row.txid !== txid || row.height !== height || row.blockHash !== `b${height}`)
        return 'another block or version';
      if (row.fee !== this.feeOf(txid)) return 'the fee of another version';
    }
    const told = this.account.published().filter(({ data }) => data['transactionId'] === row.id);
    for (const { event, data } of told) {
      if (data['amount'] !== String(amounts.get(String(data['txid']))))
        return `${event} names another amount than its version's`;
      if (event === 'withdrawal_confirmed' && data['fee'] !== String(this.feeOf(String(data['txid']))))
        return 'the fee of an event';
    }
    const confirmed = told.filter(({ event }) => event === 'withdrawal_confirmed').map(({ data }) => data['txid']);
    if (confirmed.some((txid, index) => txid === confirmed[index - 1])) return 'confirmed twice with one txid';
    if (row.status === 'confirmed' && confirmed.at(-1) !== row.txid)
      return 'confirmed as another version than was told';
    return rowsOf(this.account.rows, 'billable').length > 1 ? 'billed twice' : null;
  }
}

for (const [family, stage] of Object.entries(STAGES)) {
  test(`found F70: ${family}: the old version, then the new one, then the old one again after a reorg: each with its own amount, and announced`, (t) => {
    const sent = new SendAll(stage);
    for (const act of ['sign', 'accept', 'reprice', 'sign', 'accept'] as const)
      sent.act({ act, which: sent.row.versions.length - 1 });
    const [old, newer] = [...sent.amounts.values()];
    t.true(old! > newer!, 'a repricing pays less');
    for (const which of [0, 1, 0]) {
      for (const act of ['include', 'mature', 'move', 'orphan'] as const) {
        sent.act({ act, which });
        t.is(sent.fault(), null, `${act} ${which}`);
      }
      t.true(sent.row.amount === [old, newer][which]);
    }
    const told = sent.account
      .published()
      .filter(({ event }) => event === 'withdrawal_confirmed')
      .map(({ data }) => data['amount']);
    t.deepEqual(told, [old, newer, old].map(String));
  });

  test(`found F70: ${family}: in any order of build, reprice, broadcast, block and reorg amount and fee are those of the version in the chain`, (t) => {
    const steps = fc.array(fc.record({ act: fc.constantFrom(...ACTS), which: fc.nat({ max: 3 }) }), { maxLength: 24 });
    t.notThrows(() =>
      fc.assert(
        fc.property(steps, (acts) => {
          const sent = new SendAll(stage);
          for (const step of [{ act: 'sign', which: 0 } as const, ...acts]) {
            sent.act(step);
            const fault = sent.fault();
            if (fault !== null) throw new Error(`${step.act} ${step.which}: ${fault}`);
          }
        }),
        { numRuns: 40 },
      ),
    );
  });
}
