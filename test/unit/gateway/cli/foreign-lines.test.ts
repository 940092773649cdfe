import test from 'ava';
import { transfers } from '../../../../gateway/cli/chain/transfers.ts';
import type { Request } from '../../../../protocol/node/json-lines.ts';
import { parseLossless } from '../../../../protocol/lossless-json.ts';
import { vectorText } from '../../../support/vectors.ts';

interface ForeignCase {
  readonly name: string;
  readonly request: Request;
  readonly transfers: readonly object[];
}

const { cases } = parseLossless(vectorText('foreign/lines.json')) as { cases: readonly ForeignCase[] };

for (const { name, request, transfers: expected } of cases) {
  test(`issue 3.8 ${name}: the transfers that another decoder reads`, async (t) => {
    const answer = (await transfers(request)) as {
      transfers: readonly Record<string, unknown>[];
      ignored: readonly unknown[];
    };
    t.deepEqual(
      answer.transfers.map(({ txid, outputIndex, to, amount, tokenContract, tag }) => ({
        txid,
        outputIndex,
        to,
        amount,
        tokenContract,
        tag,
      })),
      expected,
    );
    t.true(Array.isArray(answer.ignored));
  });
}
