/** payments S13, S14, S20: what a payer's request asks of the database, and when. */
import test from 'ava';
import { createCheckout, type CheckoutDeps } from '../../../gateway/http/payment/checkout.ts';
import type { Economics } from '../../../gateway/http/payment/economics.ts';
import type { RateLimiter } from '../../../model/ports/rate-limiter.ts';
import { enrolled, NOW_MS } from '../../support/account.ts';
import { linkRow } from '../../support/payment-rows.ts';
import { unpaidMax } from '../../../actors/payment/open.ts';

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

test('payments S13, S14: at the limit, and only there, a resting address is looked for, with all networks of its family that are run', async (t) => {
  const { state } = enrolled(),
    { accountId } = state,
    link = linkRow(accountId, { collectEmail: false });
  const asked: object[] = [],
    commands: object[] = [];
  const opening = async (unpaid: number, more: object = {}) => {
    const deps = {
      rateLimiter: { take: async () => ({ allowed: true, remaining: 1, resetSeconds: 1 }) },
      nowMs: () => NOW_MS,
      config: { publicUrl: 'https://flock.example', payUrl: null, addressRestMs: 1_000, ...more },
      secrets: { mac: () => 'mac' },
      chains: { enabled: () => ['btc', 'eth', 'base', 'tron'] },
      accounts: {
        ask: async (_accountId: string, command: { type: string }) => {
          if (command.type === 'inspect') return { ok: true, reply: { ...state, unpaid: { evm: unpaid } } };
          commands.push(command);
          return { ok: false, code: 'PAYMENT_SESSION_LIMIT_EXCEEDED', message: '', details: {} };
        },
      },
      stores: {
        reads: {
          checkout: async () => link,
          openings: async () => ({ waiting: 0, ofEmail: 0, ofClient: 0, earlier: null }),
          restingAddress: async (...of: readonly unknown[]) => (asked.push(of), null),
        },
      },
    } as unknown as CheckoutDeps;
    const payer = { clientAddress: '192.0.2.1', origin: undefined, setHeader: () => {}, wasThere: () => {} };
    const { open } = createCheckout(deps, { belowFee: async () => null } as unknown as Economics);
    return open({ ...payer, params: { slug: link.slug }, body: {} } as never, null, 'fixed');
  };
  await opening(unpaidMax(state) - 1);
  t.deepEqual(asked, []);
  t.like(await opening(unpaidMax(state)), { code: 'PAYMENT_SESSION_LIMIT_EXCEEDED' });
  t.deepEqual(asked, [[accountId, { chain: 'eth', fromIndex: 0, sinceMs: NOW_MS - 1_000, ledgers: ['eth', 'base'] }]]);
  t.false('unpaidMax' in commands.at(-1)!, 'the plan decides');
  // CHECKOUT_UNPAID_MAX.
  await opening(6, { unpaidMax: 7 });
  t.is(asked.length, 1);
  await opening(7, { unpaidMax: 7 });
  t.is(asked.length, 2);
  t.like(commands.at(-1), { type: 'open_payment', unpaidMax: 7 });
});
