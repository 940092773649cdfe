/**
 * The advised way out of a stuck withdrawal, on real nodes: the newest version leaves at once, whatever is in the pool.
 */
import test from 'ava';
import { evm } from '../../chains/evm/index.ts';
import { eth } from '../../chains/evm/network.ts';
import { litecoinRegtest } from '../../chains/btc/network.ts';
import { buildUnsigned, reprice } from '../../chains/btc/unsigned.ts';
import type { BtcInputs } from '../../chains/btc/coin.ts';
import type { ChainClient, Intent, Signed, Unsigned } from '../../chains/chain.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { PAYMENT_TERMS } from '../../actors/payment/terms.ts';
import { createChainBook } from '../../actors/account/chain-book.ts';
import { IN_FLIGHT_LIMITS } from '../../actors/outgoing/counters.ts';
import { beginSubmit, noteBroadcast } from '../../actors/outgoing/signed.ts';
import type { AccountCommand } from '../../model/account/capabilities.ts';
import type { Deciding } from '../../actors/account/decision.ts';
import { initialAccount } from '../../model/account/state.ts';
import { submitNewest } from '../../actors/outgoing/submit.ts';
import { btcSigner } from '../../edge/signing/signers/btc.ts';
import { evmSigner } from '../../edge/signing/signers/evm.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { ULTIMATE } from '../support/gateway.ts';
import { startAnvil } from '../support/anvil.ts';
import { accepted, own } from '../support/btc-inputs.ts';
import { openBtcNode } from '../support/btc-node.ts';
import { readerOf } from '../support/evm-client.ts';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { deriveAddress } from '../../chains/evm/derive.ts';

const ACCOUNT = 'org_one_live';

/** One withdrawal with the account's real decisions about its submits. */
class OneWithdrawal {
  row: WithdrawalRow;
  constructor(unsigned: Unsigned, signed: Signed, decimals: number) {
    this.row = {
      id: 'txn_1',
      accountId: ACCOUNT,
      ledger: unsigned.chain,
      chain: unsigned.chain,
      from: unsigned.from,
      to: unsigned.to,
      amount: unsigned.amount,
      decimals,
      tokenContract: null,
      tokenSymbol: 'X',
      userRef: null,
      tag: null,
      status: 'signing',
      unsigned,
      txid: signed.txid,
      versions: [],
      height: null,
      blockHash: null,
      fee: null,
      failure: null,
      createdAtMs: 1,
      updatedAtMs: 1,
    };
    this.sign(unsigned, signed);
  }
  sign(unsigned: Unsigned, signed: Signed): void {
    const version = { txid: signed.txid, signedPayload: signed.payload, payload: unsigned.payload, taken: false };
    this.row = { ...this.row, unsigned, txid: signed.txid, versions: [...this.row.versions, version] };
  }
  #decide(command: AccountCommand) {
    const account = initialAccount({
      accountId: ACCOUNT,
      organizationId: 'org_one',
      environment: 'live',
      plan: ULTIMATE,
    });
    const state = { ...account, withdrawals: { [this.row.id]: this.row.updatedAtMs } };
    const deciding = {
      state,
      command,
      inFlight: IN_FLIGHT_LIMITS,
      book: createChainBook([]),
      pay: PAYMENT_TERMS,
      nowMs: this.row.updatedAtMs + 1,
      realMs: this.row.updatedAtMs + 1,
    };
    const decision =
      command.type === 'begin_submit'
        ? beginSubmit(deciding as Deciding<'begin_submit'>)
        : noteBroadcast(deciding as Deciding<'note_broadcast'>);
    if (decision.ok) for (const write of decision.rows) if (write.table === 'withdrawal') this.row = write.row;
    return decision;
  }
  submit(client: Pick<ChainClient, 'broadcast'>) {
    return submitNewest(
      { client, place: 'submit', accounts: { ask: async (_id, command) => this.#decide(command) as never } },
      this.row,
    );
  }
  get places() {
    return this.row.versions.map(({ taken }) => taken);
  }
}

test('found F70 on anvil without mining: the repriced version replaces the one in the pool and is the one that lands', async (t) => {
  const account = HDKey.fromMasterSeed(mnemonicToSeedSync(`${'abandon '.repeat(11)}about`)).derive("m/44'/60'/0'");
  const { address: from, path: fromPath } = deriveAddress(eth, account.publicExtendedKey, 0, 0);
  const key = { privateKey: account.derive('m/0/0').privateKey! };
  const anvil = await startAnvil(t, eth, { automine: false });
  await anvil.fund(from, 10n ** 18n);
  await anvil.mine(1);
  const { client } = readerOf(eth, [anvil.endpoint]);
  const intent: Intent = {
    chain: 'eth',
    from,
    fromPath,
    to: `0x${'5a'.repeat(20)}`,
    amount: 1_000n,
    token: null,
    tag: null,
  };
  const must = <T extends object>(value: T | Refusal): T => {
    if (isRefusal(value)) throw new Error(JSON.stringify(value));
    return value as T;
  };
  const first = must(
    evm.buildUnsigned(eth, (await client.fetchBuildInputs(intent)) as never, intent, null) as Unsigned | Refusal,
  );
  const sent = new OneWithdrawal(first, evmSigner.sign(eth, first, key), 18);
  t.like(await sent.submit(client), { result: { kind: 'accepted' }, sole: true });
  const second = must(evm.reprice(eth, first, (await client.fetchBuildInputs(intent)) as never) as Unsigned | Refusal);
  const newer = evmSigner.sign(eth, second, key);
  sent.sign(second, newer);
  t.deepEqual(sent.places, [true, false]);
  t.like(await sent.submit(client), { txid: newer.txid, result: { kind: 'accepted' }, sole: true });
  t.deepEqual([sent.places, sent.row.status], [[true, true], 'broadcast']);
  t.like(await sent.submit(client), { result: { kind: 'already_known' }, sole: false });
  await anvil.mine(1);
  t.like(await client.getFate(second, newer.txid), { kind: 'included' });
});

test('found F70 on litecoind: the repriced version replaces the one in the pool (BIP 125), and the old one is only watched', async (t) => {
  const node = await openBtcNode();
  try {
    const from = own(9_001, 'p2wpkh', litecoinRegtest),
      to = await node.outside();
    await node.pay(from.address, 100_000_000n);
    await node.mine(1);
    const intent: Intent = {
      chain: 'btc',
      from: from.address,
      fromPath: from.path,
      to,
      amount: 40_000_000n,
      token: null,
      tag: null,
    };
    const inputs = async (): Promise<BtcInputs> => ({
      ...(await node.client.fetchBuildInputs(intent)),
      estimateSatPerKvb: null,
    });
    const sign = (unsigned: Unsigned) => btcSigner.sign(litecoinRegtest, unsigned, { privateKey: from.privateKey });
    const first = accepted(buildUnsigned(litecoinRegtest, await inputs(), intent, { kind: 'outpoints', value: [] }));
    const sent = new OneWithdrawal(first, sign(first), 8);
    t.like(await sent.submit(node.client), { result: { kind: 'accepted' } });
    const second = accepted(reprice(litecoinRegtest, first, await inputs()));
    const newer = sign(second);
    sent.sign(second, newer);
    t.like(await sent.submit(node.client), { txid: newer.txid, result: { kind: 'accepted' }, sole: true });
    t.deepEqual(await node.node.rpc('getrawmempool', []), [newer.txid], 'the old version has left the pool');
    t.deepEqual(sent.places, [true, true]);
    await node.mine(1);
    t.like(await node.client.getFate(second, newer.txid), { kind: 'included' });
  } finally {
    await node.close();
  }
});
