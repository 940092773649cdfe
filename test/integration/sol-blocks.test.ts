/** Slots, blocks and payments on Solana nodes that lag, lie, limit and die, over the network's own virtual machine. */
import {
  AddressLookupTableProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
  AddressLookupTableAccount,
} from '@solana/web3.js';
import { base58 } from '@scure/base';
import test from 'ava';
import { ChainUnavailable, type Block, type Catalogue } from '../../chains/chain.ts';
import { solana } from '../../chains/sol/network.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../chains/sol/programs.ts';
import { transfersIn, type SolBlock } from '../../chains/sol/transfers.ts';
import { RpcFailure, type SolNode } from '../../developer/stand-ins/sol/stand-in.ts';
import { putHolding, putMint, transferFee } from '../../developer/stand-ins/sol/tokens.ts';
import { accountOf, PYUSD } from '../support/sol-inputs.ts';
import { keyOf, openSol, PAYER, SOL, USDC, type SolPeer } from '../support/sol-node.ts';

const SHOP = keyOf(2).address;
const unavailable = { instanceOf: ChainUnavailable } as const;
const catalogue: Catalogue = new Map([USDC, PYUSD].map((token) => [token.contract, token]));
const paid = (block: Block<SolBlock>) =>
  transfersIn(solana, block, catalogue).transfers.map(({ to, amount, outputIndex, tokenContract }) => ({
    to,
    amount,
    outputIndex,
    tokenContract,
  }));

/** A node that answers one method otherwise than it should. */
const lieAbout = (
  node: SolNode,
  method: string,
  tell: (params: readonly unknown[], honest: () => unknown) => unknown,
) => {
  node.lie = (asked, params, honest) => (asked === method ? tell(params, honest) : honest());
};

test('L18 G10 the head is the newest confirmed block with its own hash; final is what the node calls so', async (t) => {
  const {
    ledger,
    client,
    nodes: [node],
  } = await openSol(t, { finalityDepth: 3 });
  ledger.mine(10, 2);
  const levels = new Set<unknown>();
  node!.lie = (_method, params, honest) => {
    for (const param of params) levels.add((param as { commitment?: unknown } | null)?.commitment);
    return honest();
  };
  t.deepEqual(await client.getHead(), {
    height: ledger.tip.slot,
    hash: ledger.tip.hash,
    finalizedHeight: ledger.finalized(ledger.tip).slot,
  });
  t.true(ledger.tip.slot > ledger.tip.blockHeight, 'slots are not heights');
  await client.getBlock(ledger.tip.slot);
  await client.nextHeight(2);
  await client.fetchBalance(SHOP, null);
  levels.delete(undefined);
  t.deepEqual(levels, new Set(['confirmed', 'finalized']), 'processed is never asked for');
});

test('L18 a slot that a node calls final above its own head is not: one such word opens the gate for no later block', async (t) => {
  const {
    ledger,
    client,
    nodes: [node],
  } = await openSol(t, { finalityDepth: 3 });
  ledger.mine(10);
  lieAbout(node!, 'getSlot', () => 1_000_000);
  await client.getHead();
  node!.lie = (_method, _params, honest) => honest();
  ledger.mine(10);
  t.is((await client.getHead()).finalizedHeight, ledger.finalized(ledger.tip).slot);
});

test('L19 skipped slots are proven by the parent link of the next block, one by one and in a row', async (t) => {
  const { ledger, client } = await openSol(t);
  ledger.mine(1, 1);
  ledger.mine(2, 40);
  ledger.mine(3);
  let at = -1;
  const walked: number[] = [];
  for (let next = await client.nextHeight(at); next !== null; next = await client.nextHeight(at)) {
    const block = await client.getBlock(next);
    t.is(block.parentHeight, Math.max(at, 0));
    walked.push((at = next));
  }
  t.deepEqual(walked, ledger.slots(0, ledger.tip.slot));
  t.is(await client.getBlockHash(walked[3]! + 1), ledger.block(walked[3]! + 1)?.hash ?? null);
});

test('L19 L21 7.6 a list that leaves a block out, or a code that calls it skipped, loses nothing: the link names it', async (t) => {
  const {
    ledger,
    client,
    nodes: [node],
    pay,
  } = await openSol(t);
  ledger.mine();
  const before = ledger.tip.slot;
  pay(SHOP, SOL);
  ledger.mine(1);
  const paying = ledger.tip.slot;
  ledger.mine(4);
  await client.getHead();
  lieAbout(node!, 'getBlocks', (_params, honest) => (honest() as number[]).filter((slot) => slot !== paying));
  t.is(await client.nextHeight(before), paying);
  for (const code of [-32_004, -32_007, -32_009]) {
    lieAbout(node!, 'getBlock', ([slot], honest) => {
      if (slot === paying) throw new RpcFailure(code, `Slot ${paying} was skipped`);
      return honest();
    });
    await t.throwsAsync(() => client.getBlock(paying), unavailable);
    t.is(await client.getBlockHash(paying), null);
    t.not(await client.nextHeight(before), paying + 1, 'the block after it does not take its place');
  }
  node!.lie = null;
  t.deepEqual(
    paid(await client.getBlock(paying)).map(({ to, amount }) => [to, amount]),
    [[SHOP, SOL]],
  );
});

test('L21 C1-6 a list that ends below a head that was seen proves nothing', async (t) => {
  const {
    ledger,
    client,
    nodes: [node],
  } = await openSol(t);
  ledger.mine(5);
  const { height } = await client.getHead();
  lieAbout(node!, 'getBlocks', () => []);
  await t.throwsAsync(() => client.nextHeight(height - 3), unavailable);
  node!.lie = null;
  t.is(await client.nextHeight(height - 3), height - 2);
  t.is(await client.nextHeight(height), null);
});

test('L21 7.2 a provider that lists few slots at a time is asked for few; a long silence is looked through', async (t) => {
  const {
    ledger,
    client,
    nodes: [node],
  } = await openSol(t);
  lieAbout(node!, 'getBlocks', ([from, to], honest) => {
    if (Number(to) - Number(from) > 5) throw new RpcFailure(-32_602, 'Invalid params: range of 5 slots');
    return honest();
  });
  const before = ledger.tip.slot;
  ledger.mine(1, 30);
  t.is(await client.nextHeight(before), before + 31);
});

test("L19 a block whose height does not follow its neighbour's is not believed", async (t) => {
  const {
    ledger,
    client,
    nodes: [node],
  } = await openSol(t);
  ledger.mine(6);
  const slot = ledger.tip.slot;
  const tell = (at: number) =>
    lieAbout(node!, 'getBlock', ([asked], honest) => {
      const block = honest() as { blockHeight: number };
      return asked === at ? { ...block, blockHeight: block.blockHeight + 1 } : block;
    });
  await client.getBlock(slot - 2);
  tell(slot - 1);
  await t.throwsAsync(() => client.getBlock(slot - 1), { ...unavailable, message: /does not follow/ });
  tell(-1);
  await client.getBlock(slot - 1);
  await client.getBlock(slot);
  const other = await openSol(t);
  other.ledger.mine(6);
  const last = other.ledger.tip.slot;
  await other.client.getBlock(last);
  lieAbout(other.nodes[0]!, 'getBlock', (_params, honest) => ({ ...(honest() as object), blockHeight: 99 }));
  await t.throwsAsync(() => other.client.getBlock(last - 1), unavailable, 'read ahead: the child came first');
});

test('L22 C1-8 version 1 is asked for and read; a version that nobody reads yet is named, and its block is not skipped', async (t) => {
  const { ledger, client, pay } = await openSol(t);
  pay(SHOP, 5n * SOL);
  ledger.mine();
  const [entry] = ledger.tip.entries;
  const signed = (fill: number) => ({
    ...entry!,
    transaction: { ...entry!.transaction, signatures: [base58.encode(new Uint8Array(64).fill(fill))] },
  });
  ledger.mineEntry({ ...signed(1), version: 1 });
  t.deepEqual(
    paid(await client.getBlock(ledger.tip.slot)).map(({ amount }) => amount),
    [5n * SOL],
  );
  const above = ledger.tip.slot;
  ledger.mineEntry({ ...signed(2), version: 2 });
  ledger.mine();
  const error = await t.throwsAsync(() => client.getBlock(above + 1), unavailable);
  t.regex(error.reason, /version asked for is too low.*\(2\)/);
  t.is(await client.nextHeight(above), above + 1, 'it is the next block all the same');
  t.is(await client.getBlockHash(above + 1), ledger.block(above + 1)!.hash, 'its header can go on without it');
});

test('L20 what is final is read as final: a node that has not finalized it cannot vouch for it', async (t) => {
  const { ledger, nodes, endpoints, clientOf, pay } = await openSol(t, { nodes: 2, finalityDepth: 4 });
  const txid = pay(SHOP, SOL);
  ledger.mine(1);
  const { slot, hash } = ledger.tip;
  ledger.mine(4);
  const asked: unknown[] = [];
  const { client } = clientOf(endpoints);
  await client.getHead();
  for (const node of nodes)
    node.lie = (method, params, honest) => {
      if (method === 'getBlock') asked.push(params[1]);
      return honest();
    };
  t.is(await client.getBlockHash(slot), hash);
  t.like(asked[0], { commitment: 'finalized' });
  t.is(await client.getBlockHash(slot + 1), ledger.block(slot + 1)!.hash);
  t.like(asked.at(-1), { commitment: 'confirmed' });
  t.like(await client.getOutcome(txid), { success: true, height: slot, hash });
  nodes[0]!.lagBlocks = 2;
  nodes[1]!.lagBlocks = 2;
  t.is(await client.getBlockHash(slot), null, 'both have it, neither calls it final');
  await t.throwsAsync(() => client.getOutcome(txid), unavailable);
});

test('G10 a node that is behind is not believed: no old head, no old balance', async (t) => {
  const { ledger, nodes, endpoints, clientOf, pay } = await openSol(t, { nodes: 2 });
  const { client, transport } = clientOf(endpoints);
  ledger.mine(12);
  await client.getHead();
  nodes[0]!.lagBlocks = 12;
  pay(SHOP, SOL);
  ledger.mine();
  for (let i = 0; i < 4; i += 1) {
    t.is((await client.getHead()).height, ledger.tip.slot);
    t.is((await client.fetchBalance(SHOP, null)).amount, SOL);
  }
  t.true(transport.health().some(({ state }) => state === 'lagging'));
  const alone = clientOf([endpoints[0]!]);
  t.is((await alone.client.fetchBalance(SHOP, null)).amount, 0n, 'a client that has seen nothing newer cannot know');
});

test('C1-12 G10 a head that every node shows lower is a rollback and is told as it is', async (t) => {
  const { ledger, client } = await openSol(t);
  ledger.mine(10);
  await client.getHead();
  ledger.reorg(4);
  t.is((await client.getHead()).height, ledger.tip.slot);
});

test('G14 a node of another network is disabled; without any other the chain is unavailable', async (t) => {
  const { nodes, endpoints, clientOf, ledger } = await openSol(t, { nodes: 2 });
  nodes[0]!.genesisHash = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'; // devnet
  const { client, transport } = clientOf(endpoints);
  await client.checkIdentity();
  t.deepEqual(
    transport.health().map(({ state }) => state),
    ['wrong_network', 'healthy'],
  );
  nodes[0]!.calls.length = 0;
  ledger.mine();
  for (let i = 0; i < 3; i += 1) await client.getBlock((await client.getHead()).height);
  t.deepEqual(nodes[0]!.calls, []);
  const foreign = clientOf([endpoints[0]!]);
  await t.throwsAsync(() => foreign.client.checkIdentity(), { ...unavailable, message: /another first block/ });
});

test('1.7 C1-1 C1-4 a node that limits its callers, is unwell, keeps no history or is gone is no zero and no empty block', async (t) => {
  const { ledger, nodes, endpoints, clientOf, client, pay } = await openSol(t, { nodes: 2 });
  pay(SHOP, SOL);
  ledger.mine();
  const { slot } = ledger.tip,
    alone = clientOf([endpoints[0]!]).client,
    node = nodes[0]!;
  const bad: readonly (() => void)[] = [
    () => {
      node.callsLeft = 0;
    },
    () => {
      node.dead = true;
    },
    ...[
      [-32_005, 'Node is unhealthy'],
      [-32_011, 'Transaction history is not available from this node'],
      [-32_016, 'Minimum context slot has not been reached'],
      [-32_019, 'Failed to query long-term storage; please try again'],
    ].map(([code, message]) => () => {
      node.lie = () => {
        throw new RpcFailure(Number(code), String(message));
      };
    }),
    () => {
      node.lie = () => null;
    },
    () => {
      node.lie = () => ({});
    },
    () => {
      node.lie = () => [];
    },
  ];
  for (const [index, break_] of bad.entries()) {
    Object.assign(node, { callsLeft: null, dead: false, lie: null });
    break_();
    await t.throwsAsync(() => alone.getHead(), undefined, `${index}`);
    await t.throwsAsync(() => alone.getBlock(slot), undefined, `${index}`);
    await t.throwsAsync(() => alone.fetchBalance(SHOP, null), undefined, `${index}`);
    t.is((await client.getHead()).height, slot, 'the other node answers');
    t.is((await client.fetchBalance(SHOP, null)).amount, SOL);
    t.is(paid(await client.getBlock(slot)).length, 1);
  }
});

const ata = (owner: PublicKey, payer: PublicKey, mint: string, program: string, account: string) =>
  new TransactionInstruction({
    programId: new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'),
    data: Buffer.of(1),
    keys: [
      [payer, true, true],
      [new PublicKey(account), false, true],
      [owner, false, false],
      [new PublicKey(mint), false, false],
      [SystemProgram.programId, false, false],
      [new PublicKey(program), false, false],
    ].map(([pubkey, isSigner, isWritable]) => ({
      pubkey: pubkey as PublicKey,
      isSigner: isSigner as boolean,
      isWritable: isWritable as boolean,
    })),
  });
function checked(
  program: string,
  source: string,
  mint: string,
  destination: string,
  owner: PublicKey,
  amount: bigint,
  decimals: number,
): TransactionInstruction {
  const data = Buffer.alloc(10);
  data[0] = 12;
  data.writeBigUInt64LE(amount, 1);
  data[9] = decimals;
  return new TransactionInstruction({
    programId: new PublicKey(program),
    data,
    keys: [
      { pubkey: new PublicKey(source), isSigner: false, isWritable: true },
      { pubkey: new PublicKey(mint), isSigner: false, isWritable: false },
      { pubkey: new PublicKey(destination), isSigner: false, isWritable: true },
      { pubkey: owner, isSigner: true, isWritable: false },
    ],
  });
}

function withTokens({ ledger }: SolPeer): void {
  putMint(ledger, { mint: USDC.contract, decimals: 6 });
  putMint(ledger, {
    mint: PYUSD.contract,
    decimals: 6,
    program: TOKEN_2022_PROGRAM,
    extensions: [transferFee(250, 10n ** 9n)],
  });
  putHolding(ledger, {
    account: accountOf(PAYER.address),
    mint: USDC.contract,
    owner: PAYER.address,
    amount: 10n ** 12n,
  });
  putHolding(ledger, {
    account: accountOf(PAYER.address, PYUSD.contract, TOKEN_2022_PROGRAM),
    mint: PYUSD.contract,
    owner: PAYER.address,
    amount: 10n ** 12n,
    program: TOKEN_2022_PROGRAM,
    withFee: true,
  });
}

test('L4 L5 L6 L9 C1-2 C2-29 executed tokens: the owner is credited what arrived, in its created account, and no rent', async (t) => {
  const peer = await openSol(t),
    { ledger, client, submit } = peer,
    payer = PAYER.keypair;
  withTokens(peer);
  const shop = keyOf(2).keypair.publicKey,
    account = accountOf(SHOP),
    account22 = accountOf(SHOP, PYUSD.contract, TOKEN_2022_PROGRAM);
  submit(
    [
      ata(shop, payer.publicKey, USDC.contract, TOKEN_PROGRAM, account),
      checked(TOKEN_PROGRAM, accountOf(PAYER.address), USDC.contract, account, payer.publicKey, 1_500_000n, 6),
    ],
    payer,
  );
  submit(
    [
      ata(shop, payer.publicKey, PYUSD.contract, TOKEN_2022_PROGRAM, account22),
      checked(
        TOKEN_2022_PROGRAM,
        accountOf(PAYER.address, PYUSD.contract, TOKEN_2022_PROGRAM),
        PYUSD.contract,
        account22,
        payer.publicKey,
        1_000_000n,
        6,
      ),
    ],
    payer,
  );
  ledger.mine();
  const block = await client.getBlock(ledger.tip.slot);
  t.deepEqual(
    paid(block).map(({ to, amount, tokenContract }) => [to, amount, tokenContract]),
    [
      [SHOP, 1_500_000n, USDC.contract],
      [SHOP, 975_000n, PYUSD.contract],
    ],
    '2.5 % stays with the mint',
  );
  const keys = ledger.tip.entries.map(
    ({ transaction }) => (transaction['message'] as { accountKeys: string[] }).accountKeys,
  );
  t.deepEqual(
    paid(block).map(({ outputIndex }, index) => keys[index]![outputIndex]),
    [account, account22],
  );
  t.true(
    ledger.tip.entries.every(({ meta }) => (meta['innerInstructions'] as unknown[]).length > 0),
    'the account was created by inner instructions',
  );
});

test('L1 L3 C1-3 executed: a payment through a lookup table, and lamports that come back from a closed account', async (t) => {
  const peer = await openSol(t),
    { ledger, client, submit } = peer,
    payer = PAYER.keypair,
    shop = keyOf(2).keypair;
  withTokens(peer);
  const table = keyOf(90).keypair.publicKey;
  const addresses = [keyOf(91).keypair.publicKey, shop.publicKey];
  ledger.setAccount(table.toBase58(), {
    lamports: SOL,
    owner: AddressLookupTableProgram.programId.toBase58(),
    executable: false,
    data: Uint8Array.from([
      1,
      0,
      0,
      0,
      ...new Uint8Array(8).fill(255),
      ...new Uint8Array(8),
      0,
      0,
      ...new Uint8Array(34),
      ...addresses.flatMap((one) => [...one.toBytes()]),
    ]),
  });
  ledger.mine();
  const lookup = new AddressLookupTableAccount({
    key: table,
    state: AddressLookupTableAccount.deserialize(ledger.accounts.at(table.toBase58(), ledger.tip.slot)!.data),
  });
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: ledger.tip.hash,
    instructions: [
      SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: shop.publicKey, lamports: 3n * SOL }),
    ],
  }).compileToV0Message([lookup]);
  t.is(message.addressTableLookups.length, 1);
  const transaction = new VersionedTransaction(message);
  transaction.sign([payer]);
  ledger.submit(ledger.read(transaction.serialize()));
  ledger.mine();
  t.is(ledger.tip.entries[0]!.version, 0);
  t.deepEqual(
    paid(await client.getBlock(ledger.tip.slot)).map(({ to, amount }) => [to, amount]),
    [[SHOP, 3n * SOL]],
  );
  putHolding(ledger, { account: accountOf(SHOP), mint: USDC.contract, owner: SHOP, amount: 0n });
  submit(
    [
      new TransactionInstruction({
        programId: new PublicKey(TOKEN_PROGRAM),
        data: Buffer.of(9),
        keys: [
          { pubkey: new PublicKey(accountOf(SHOP)), isSigner: false, isWritable: true },
          { pubkey: shop.publicKey, isSigner: false, isWritable: true },
          { pubkey: shop.publicKey, isSigner: true, isWritable: false },
        ],
      }),
    ],
    payer,
    shop,
  );
  ledger.mine();
  t.deepEqual(
    paid(await client.getBlock(ledger.tip.slot)).map(({ to, amount }) => [to, amount]),
    [[SHOP, ledger.rentExempt(165)]],
  );
});

test('L2 G22 executed: what fails moves its fee and pays nobody', async (t) => {
  const { ledger, client, submit } = await openSol(t);
  const poor = keyOf(50);
  ledger.fund(poor.address, SOL);
  const txid = submit(
    [SystemProgram.transfer({ fromPubkey: poor.keypair.publicKey, toPubkey: new PublicKey(SHOP), lamports: 2n * SOL })],
    poor.keypair,
  );
  ledger.mine();
  const block = await client.getBlock(ledger.tip.slot);
  t.deepEqual(paid(block), []);
  t.like(await client.getOutcome(txid), {
    success: false,
    fee: 5_000n,
    reason: '{"InstructionError":[0,{"Custom":1}]}',
  });
  t.is((await client.fetchBalance(poor.address, null)).amount, SOL - 5_000n);
});

test('G4 lamports beyond what a double holds are exact, in balances and in payments', async (t) => {
  const { ledger, client, submit } = await openSol(t);
  const whale = keyOf(60),
    amount = 9_007_199_254_740_993n;
  ledger.fund(whale.address, 2n * amount);
  submit(
    [SystemProgram.transfer({ fromPubkey: whale.keypair.publicKey, toPubkey: new PublicKey(SHOP), lamports: amount })],
    whale.keypair,
  );
  ledger.mine();
  t.is(paid(await client.getBlock(ledger.tip.slot))[0]!.amount, amount);
  t.is((await client.fetchBalance(SHOP, null)).amount, amount);
  t.is((await client.fetchBalance(whale.address, null)).amount, amount - 5_000n);
});

test("2.4 L4 balances: absent is a real zero, rent is the chain's, tokens count over all accounts and are available where they can be sent", async (t) => {
  const peer = await openSol(t),
    { ledger, client } = peer;
  withTokens(peer);
  t.like(await client.fetchBalance(SHOP, null), { amount: 0n, reserved: 0n, available: 0n, accountExists: false });
  t.like(await client.fetchBalance(SHOP, USDC), { amount: 0n, accountExists: false, decimals: 6 });
  ledger.fund(SHOP, SOL);
  t.like(await client.fetchBalance(SHOP, null), {
    amount: SOL,
    reserved: ledger.rentExempt(0),
    available: SOL - ledger.rentExempt(0),
    accountExists: true,
  });
  putHolding(ledger, { account: accountOf(SHOP), mint: USDC.contract, owner: SHOP, amount: 70n });
  putHolding(ledger, { account: keyOf(92).address, mint: USDC.contract, owner: SHOP, amount: 30n });
  t.like(await client.fetchBalance(SHOP, USDC), { amount: 100n, reserved: 30n, available: 70n, accountExists: true });
  putHolding(ledger, { account: accountOf(SHOP), mint: USDC.contract, owner: SHOP, amount: 70n, frozen: true });
  t.like(await client.fetchBalance(SHOP, USDC), { amount: 100n, available: 0n });
  ledger.setAccount(keyOf(93).address, {
    lamports: SOL,
    owner: keyOf(94).address,
    data: new Uint8Array(80),
    executable: false,
  });
  t.is((await client.fetchBalance(keyOf(93).address, null)).reserved, ledger.rentExempt(80), 'rent of its own size');
});

test('K4 L11 facts of a mint: decimals and names; what could not be forwarded is refused', async (t) => {
  const peer = await openSol(t),
    { ledger, client } = peer,
    mint = keyOf(95).address;
  const text = (one: string, pad = 0) => {
    const bytes = Buffer.alloc(4 + Math.max(pad, one.length));
    bytes.writeUInt32LE(bytes.length - 4);
    bytes.write(one, 4);
    return bytes;
  };
  putMint(ledger, { mint, decimals: 9 });
  t.deepEqual(await client.fetchTokenFacts(mint), { symbol: '', name: '', decimals: 9, tokenProgram: 'token' });
  const [metadata] = PublicKey.findProgramAddressSync(
    [Buffer.from('metadata'), base58.decode('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'), base58.decode(mint)],
    new PublicKey('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'),
  );
  ledger.setAccount(metadata.toBase58(), {
    lamports: SOL,
    owner: 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s',
    executable: false,
    data: Uint8Array.from([4, ...new Uint8Array(64), ...text('Nine Coin', 32), ...text('NINE', 10)]),
  });
  t.deepEqual(await client.fetchTokenFacts(mint), {
    ...{ symbol: 'NINE', name: 'Nine Coin', decimals: 9 },
    tokenProgram: 'token',
  });
  const own = [...new Uint8Array(64), ...text('PayPal USD'), ...text('PYUSD')];
  putMint(ledger, {
    mint,
    decimals: 6,
    program: TOKEN_2022_PROGRAM,
    extensions: [{ kind: 19, value: Uint8Array.from(own) }],
  });
  t.deepEqual(await client.fetchTokenFacts(mint), {
    ...{ symbol: 'PYUSD', name: 'PayPal USD', decimals: 6 },
    tokenProgram: 'token-2022',
  });
  for (const [kind, value] of [
    [9, []],
    [6, [2]],
  ] as const) {
    putMint(ledger, {
      mint,
      decimals: 6,
      program: TOKEN_2022_PROGRAM,
      extensions: [{ kind, value: Uint8Array.from(value) }],
    });
    t.like(await client.fetchTokenFacts(mint), { ok: false, code: 'TOKEN_NOT_SUPPORTED' });
  }
  t.like(await client.fetchTokenFacts(PAYER.address), { ok: false, code: 'TOKEN_NOT_SUPPORTED' });
  t.like(await client.fetchTokenFacts(keyOf(97).address), { ok: false, code: 'TOKEN_NOT_SUPPORTED' });
  t.true(await client.seesInternal());
});
