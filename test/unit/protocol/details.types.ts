/** Compiled by `tsc`, never run: a refusal has the details of its code and no other. House rule 7. */
import { readRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';

export function typesOfDetails(code: 'INSUFFICIENT_FUNDS' | 'INSUFFICIENT_GAS'): Refusal[] {
  return [
    refuse('SANDBOX_ONLY'),
    refuse('SERVICE_UNAVAILABLE', { reason: 'pool_refill', retryAfterSeconds: 1 }),
    refuse(code, { balance: '1', required: '2' }),
    readRefusal('SANDBOX_ONLY', { of: 'a newer release' }),
    // @ts-expect-error seconds are a number
    refuse('SERVICE_UNAVAILABLE', { retryAfterSeconds: '1' }),
    // @ts-expect-error amounts are decimal text
    refuse('INSUFFICIENT_FUNDS', { balance: 1n }),
    // @ts-expect-error no detail of this code
    refuse('RATE_LIMIT_EXCEEDED', { chain: 'eth' }),
    // @ts-expect-error a misspelt detail
    refuse('INVALID_INPUT', { feild: 'amount' }),
    // @ts-expect-error no such code
    refuse('NOT_A_CODE'),
  ];
}
