/** F30: the price that a pool takes at least, named by its refusal, is the price of the next build. */
import test from 'ava';
import type { Endpoint, Intent } from '../../../../chains/chain.ts';
import { decodeUnsigned, txidOf } from '../../../../chains/evm/envelope.ts';
import { bsc, polygon, type EvmNetwork } from '../../../../chains/evm/network.ts';
import { createPoolMinimum } from '../../../../chains/evm/pool-minimum.ts';
import { explainRejection, minimumPriceOf } from '../../../../chains/evm/rejection.ts';
import { buildUnsigned } from '../../../../chains/evm/unsigned.ts';
import { isRefusal } from '../../../../protocol/errors.ts';
import { answersOf } from '../../../support/evm-blocks.ts';
import { readerOf, signedTransfer } from '../../../support/evm-client.ts';
import { inputsOf, RECIPIENT, SENDER, SENDER_PATH } from '../../../support/evm-inputs.ts';

const GWEI = 1_000_000_000n;

test('F30 every text that names a minimum is a refusal of the list, and its number is read', (t) => {
  for (const [message, price] of [
    ['transaction gas price below minimum: gas tip cap 50000000, minimum needed 100000000', 100_000_000n],
    ['transaction underpriced: gas tip cap 0, minimum needed 25', 25n],
    ['transaction underpriced: tip needed 30000000000, tip permitted 1', 30n * GWEI],
    ['transaction priority fee below minimum required priority fee 7', 7n],
    [
      "Transaction gas price is too low. It does not satisfy your node's minimal gas price (minimal: 9 got: 1). Try increasing the gas price.",
      9n,
    ],
  ] as const) {
    t.is(minimumPriceOf({ code: -32_000, message }), price, message);
    t.is(explainRejection({ code: -32_000, message }).kind, 'rejected', message);
  }
  for (const message of [
    'transaction underpriced',
    'minimum needed 5',
    `transaction underpriced: gas tip cap 0, minimum needed ${'9'.repeat(30)}`,
  ])
    t.is(minimumPriceOf({ code: -32_000, message }), null, message);
});

/** A node whose pool takes a minimum of its own and names it. */
function poolOf(network: EvmNetwork, minimum: bigint, gasPrice: bigint): Endpoint {
  const answer = (method: string): unknown =>
    ({
      eth_getBlockByNumber: answersOf(100, []).block,
      eth_getTransactionCount: '0x7',
      eth_getBalance: `0x${(10n ** 18n).toString(16)}`,
      eth_getCode: '0x',
      eth_gasPrice: `0x${gasPrice.toString(16)}`,
      eth_feeHistory: {
        baseFeePerGas: ['0x1'],
        reward: [[`0x${gasPrice.toString(16)}`, `0x${gasPrice.toString(16)}`, '0x0']],
        gasUsedRatio: [0.5],
      },
      eth_getTransactionByHash: null,
    })[method];
  const one = ({ id, method }: { id: number; method: string }) =>
    method === 'eth_sendRawTransaction'
      ? {
          jsonrpc: '2.0',
          id,
          error: {
            code: -32_000,
            message: `transaction gas price below minimum: gas tip cap 1, minimum needed ${minimum}`,
          },
        }
      : { jsonrpc: '2.0', id, result: answer(method) };
  return {
    name: network.slug,
    request: async ({ body }) => {
      const asked = JSON.parse(body!);
      return { status: 200, headers: {}, text: JSON.stringify(Array.isArray(asked) ? asked.map(one) : one(asked)) };
    },
  };
}

test('found F30: a pool minimum above our price is obeyed by the next build; after a restart, which forgets it, one refusal is enough again', async (t) => {
  const cases = [
    [bsc, GWEI, GWEI / 100n],
    [polygon, 30n * GWEI, GWEI],
  ] as const;
  for (const [network, minimum, shown] of [...cases, ...cases]) {
    const { client } = readerOf(network, [poolOf(network, minimum, shown)]);
    const intent: Intent = {
      chain: network.slug,
      from: SENDER,
      fromPath: SENDER_PATH,
      to: RECIPIENT,
      amount: 1_000n,
      token: null,
      tag: null,
    };
    const tipOf = async () => {
      const unsigned = buildUnsigned(network, await client.fetchBuildInputs(intent), intent, {
        kind: 'nonce',
        value: 7,
      });
      if (isRefusal(unsigned)) throw new Error(JSON.stringify(unsigned));
      const decoded = decodeUnsigned(unsigned.payload);
      return decoded.ok ? decoded.transaction.maxPriorityFeePerGas : null;
    };
    t.true((await tipOf())! < minimum, 'the first build does not know it');
    const payload = await signedTransfer(network, 7, RECIPIENT, 5n);
    t.like(await client.broadcast({ chain: network.slug, payload, txid: txidOf(payload) }), {
      kind: 'rejected_final',
      refusal: { details: { action: 'reprice' } },
    });
    t.is(await tipOf(), minimum, network.slug);
  }
});

test('F30 a minimum out of all proportion is not obeyed, one that was obeyed long enough is found anew, and a price above it stays', (t) => {
  const pool = createPoolMinimum(bsc),
    inputs = inputsOf({ gasPrice: (GWEI / 10n).toString() });
  pool.note(21n * GWEI);
  t.is(pool.obeyed(inputs).gasPrice, inputs.gasPrice, 'twenty times and more');
  pool.note(3n * GWEI);
  t.is(pool.obeyed(inputs).gasPrice, (3n * GWEI).toString());
  t.is(pool.obeyed({ ...inputs, gasPrice: (4n * GWEI).toString() }).gasPrice, (4n * GWEI).toString());
  for (let i = 0; i < 1_000; i += 1) pool.obeyed(inputs);
  t.is(pool.obeyed(inputs).gasPrice, inputs.gasPrice);
});
