/** payments S20: who asks too often costs the database nothing. */
import test from 'ava';
import { createCheckout, type CheckoutDeps } from '../../../gateway/http/payment/checkout.ts';
import type { Economics } from '../../../gateway/http/payment/economics.ts';
import type { RateLimiter } from '../../../model/ports/rate-limiter.ts';

test('payments S20: requests of a client are counted before its slug or payment is looked up', async (t) => {
  let reads = 0;
  const taken = new Map<string, { count: number; limit: number }>();
  const rateLimiter: RateLimiter = {
    take: async (key, limit) => {
      const count = (taken.get(key)?.count ?? 0) + 1;
      taken.set(key, { count, limit });
      // As if it had asked so often before.
      const allowed = !key.startsWith('pay:asked:') || count <= 1;
      return { allowed, remaining: 0, resetSeconds: 7 };
    },
  };
  const deps = {
    rateLimiter,
    nowMs: () => 1,
    config: { publicUrl: 'https://flock.example', payUrl: null },
    stores: { reads: { checkout: async () => ((reads += 1), null) } },
  } as unknown as CheckoutDeps;
  const { placeOf } = createCheckout(deps, {} as Economics);
  const payer = (clientAddress: string) => ({
    clientAddress,
    origin: undefined,
    setHeader: () => {},
    wasThere: () => {},
  });
  t.like(await placeOf(payer('192.0.2.1'), { slug: 'nobody-has-it' }), { code: 'NOT_FOUND' });
  t.is(reads, 1);
  for (const asked of [{ slug: 'nobody-has-it' }, { paymentId: 'pay_24pgoiqjq2dgpoqhm7nuhjd5zi' }])
    t.like(await placeOf(payer('192.0.2.1'), asked), {
      code: 'RATE_LIMIT_EXCEEDED',
      details: { limit: 24_000, windowSeconds: 60, retryAfterSeconds: 7 },
    });
  t.is(reads, 1);
  t.like(await placeOf(payer('192.0.2.2'), { slug: 'nobody-has-it' }), { code: 'NOT_FOUND' }, 'each client by itself');
});
