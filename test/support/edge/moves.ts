/** What the bytes of an operation move, and to whom: all of it but what only keeps them from landing twice or late. */
import { decodeUnsigned } from '../../../chains/evm/envelope.ts';
import { decodePayment } from '../../../chains/sol/payment.ts';
import { decodeRaw } from '../../../chains/tron/raw-transaction.ts';
import { decodePayload } from '../../../chains/xlm/envelope.ts';
import { decodeUnsigned as decodeXrp } from '../../../chains/xrp/transaction.ts';
import { FAMILY_OF, type Chain } from '../../../protocol/slugs.ts';

/** Throws: Error for bytes that are no operation. */
export function movesOf(chain: Chain, payload: string): string {
  return JSON.stringify(readOf(chain, payload), (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
}

function readOf(chain: Chain, payload: string): unknown {
  switch (FAMILY_OF[chain]) {
    case 'evm': {
      const { to, value, data, chainId } = must(decodeUnsigned(payload)).transaction;
      return { to, value, data, chainId };
    }
    case 'tron': {
      const { contract } = must(decodeRaw(payload)).raw;
      return contract;
    }
    case 'sol': {
      const { from, feePayer, asset, amount } = must(decodePayment(Buffer.from(payload, 'base64'))).payment;
      return { from, feePayer, asset, amount };
    }
    case 'xlm': {
      const { transaction, bump } = must(decodePayload(payload)).payload;
      return {
        source: transaction.source,
        operation: transaction.operation,
        memo: transaction.memoId,
        payer: bump?.feeSource,
      };
    }
    case 'xrp': {
      const { feeDrops: _, sequence: __, lastLedgerSequence: ___, ...rest } = must(decodeXrp(payload)).transaction;
      return rest;
    }
    case 'btc':
      throw new Error('no operation of btc is signed');
  }
}

function must<T extends { readonly ok: boolean }>(read: T): Extract<T, { readonly ok: true }> {
  if (!read.ok) throw new Error('not an operation');
  return read as Extract<T, { readonly ok: true }>;
}
