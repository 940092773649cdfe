/** What a Solana node says of a transaction is held against what was called final before. */
import test from 'ava';
import { ChainUnavailable, type Endpoint } from '../../../../chains/chain.ts';
import { createClient } from '../../../../chains/sol/client.ts';
import { solana } from '../../../../chains/sol/network.ts';
import { createFailoverTransport } from '../../../../chains/transport/failover.ts';

const TXID = '5'.repeat(88),
  SLOT = 100,
  HASH = 'So11111111111111111111111111111111111111112';

/** A node at slot 200 that calls everything up to 150 final, and the transaction at slot 100 whatever is told. */
function nodeOf(said: { status: 'confirmed' | 'finalized' }): Endpoint {
  const answers: Record<string, unknown> = {
    getLatestBlockhash: { context: { slot: 200 }, value: { blockhash: HASH, lastValidBlockHeight: 350 } },
    getSlot: 150,
    getTransaction: { slot: SLOT, meta: { err: null, fee: 5_000 } },
    getBlock: { blockhash: HASH, previousBlockhash: HASH, parentSlot: SLOT - 1, blockHeight: 90, blockTime: null },
  };
  const reply = ({ id, method }: { id: number; method: string }) => ({
    jsonrpc: '2.0',
    id,
    result:
      method !== 'getSignatureStatuses'
        ? answers[method]
        : {
            context: { slot: 200 },
            value: [
              { slot: SLOT, confirmations: null, err: null, status: { Ok: null }, confirmationStatus: said.status },
            ],
          },
  });
  return {
    name: 'node',
    async request({ body }) {
      const asked = JSON.parse(body!);
      return { status: 200, headers: {}, text: JSON.stringify(Array.isArray(asked) ? asked.map(reply) : reply(asked)) };
    },
  };
}

test('L20 G19 a transaction in a slot that was called final counts only when its own status is final too', async (t) => {
  const said: { status: 'confirmed' | 'finalized' } = { status: 'confirmed' };
  const transport = createFailoverTransport({
    chain: 'sol',
    endpoints: [nodeOf(said)],
    elapsedMs: () => 0,
    random: () => 0.5,
  });
  const client = createClient(solana, transport, new Map());
  t.like(await client.getHead(), { height: 200, finalizedHeight: 150 });
  await t.throwsAsync(client.getOutcome(TXID), { instanceOf: ChainUnavailable, message: /does not call .* final yet/ });
  said.status = 'finalized';
  t.like(await client.getOutcome(TXID), { txid: TXID, success: true, fee: 5_000n, height: SLOT, hash: HASH });
});
