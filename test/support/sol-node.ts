/** Solana nodes of one ledger for a test, a client over them, and payers that use the network's own library. */
import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import type { ExecutionContext } from 'ava';
import type { Catalogue, Endpoint, Token } from '../../chains/chain.ts';
import { createClient, type SolClient } from '../../chains/sol/client.ts';
import { solana } from '../../chains/sol/network.ts';
import { createFailoverTransport, type FailoverTransport } from '../../chains/transport/failover.ts';
import { createHttpEndpoint } from '../../chains/transport/http-endpoint.ts';
import type { LedgerOptions, SolLedger } from '../../developer/stand-ins/sol/ledger.ts';
import { startSolStandIn, type SolNode } from '../../developer/stand-ins/sol/stand-in.ts';
import { ANSWER_MS_MAX } from './in-process.ts';

export const SOL = 10n ** 9n;
export const USDC: Token = {
  chain: 'sol',
  contract: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  symbol: 'USDC',
  decimals: 6,
};

/** A key pair that is always the same for a number. */
export function keyOf(number: number): { keypair: Keypair; address: string; privateKey: Uint8Array } {
  const privateKey = new Uint8Array(32).fill(number);
  const keypair = Keypair.fromSeed(privateKey);
  return { keypair, address: keypair.publicKey.toBase58(), privateKey };
}

export interface SolPeer {
  readonly ledger: SolLedger;
  readonly nodes: readonly SolNode[];
  readonly endpoints: readonly Endpoint[];
  readonly client: SolClient;
  readonly transport: FailoverTransport;
  /** A client over some of the nodes. */
  clientOf(endpoints: readonly Endpoint[], catalogue?: Catalogue): { client: SolClient; transport: FailoverTransport };
  /** Submits a payment from outside; it waits in the pool. Answers its txid. */
  pay(to: string, lamports: bigint): string;
  /** Signs and submits instructions, the first signer pays. */
  submit(instructions: readonly TransactionInstruction[], ...signers: readonly Keypair[]): string;
}

/** A payer with money, outside of everything that is tested. */
export const PAYER = keyOf(201);

/** Starts nodes that end with the test. */
export async function openSol(t: ExecutionContext, options: LedgerOptions & { nodes?: number } = {}): Promise<SolPeer> {
  const { ledger, nodes, close } = await startSolStandIn(options);
  const endpoints = nodes.map((node, index) =>
    createHttpEndpoint({ chain: 'sol', name: `sol-${index + 1}`, url: node.url, timeoutMs: ANSWER_MS_MAX }),
  );
  t.teardown(async () => {
    await Promise.all(endpoints.map((endpoint) => endpoint.close()));
    await close();
  });
  ledger.fund(PAYER.address, 1_000_000n * SOL);
  ledger.mine(2, 3); // slots and heights differ from the start
  let nowMs = 0;
  const clientOf: SolPeer['clientOf'] = (some, catalogue = new Map([[USDC.contract, USDC]])) => {
    const transport = createFailoverTransport({
      chain: 'sol',
      endpoints: some,
      elapsedMs: () => (nowMs += 60_000),
      random: () => 0.5,
    });
    return { client: createClient(solana, transport, catalogue), transport };
  };
  const submit: SolPeer['submit'] = (instructions, ...signers) => {
    const payerKey = signers[0]!.publicKey;
    const message = new TransactionMessage({
      payerKey,
      recentBlockhash: ledger.tip.hash,
      instructions: [...instructions],
    });
    const transaction = new VersionedTransaction(message.compileToLegacyMessage());
    transaction.sign([...signers]);
    const read = ledger.read(transaction.serialize());
    ledger.submit(read);
    return read.signature;
  };
  let payments = 0;
  return {
    ledger,
    nodes,
    endpoints,
    ...clientOf(endpoints),
    clientOf,
    submit,
    pay: (to, lamports) =>
      submit(
        [
          // Equal payments under one block hash would be one transaction.
          ComputeBudgetProgram.setComputeUnitLimit({ units: 10_000 + (payments += 1) }),
          SystemProgram.transfer({ fromPubkey: PAYER.keypair.publicKey, toPubkey: new PublicKey(to), lamports }),
        ],
        PAYER.keypair,
      ),
  };
}
