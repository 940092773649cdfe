/** The story that fault tests tell again and again, and what must be true of all of it in the end. */
import type { ExecutionContext } from 'ava';
import { isRefusal } from '../../protocol/errors.ts';
import { problemsOfBooks, type Paid } from './books.ts';
import { CONFIRMATIONS, patiently, type Company } from './company.ts';

const OUTSIDER = '0x000000000000000000000000000000000000bEEF';
const WITHDRAWN = 1_000n;

/**
 * Stories of one company: address → paid → detected → confirmed → withdrawal → confirmed, by an application that asks
 * again.
 */
export class Stories {
  readonly #company: Company;
  readonly #paid = new Map<string, Paid>();
  count = 0;

  constructor(company: Company) {
    this.#company = company;
  }

  async tell(): Promise<void> {
    const { client, receiver, anvil, mine, pay } = this.#company;
    const n = (this.count += 1);
    const address = await patiently('address', () =>
      client.call('createAddress', { body: { chain: 'eth', userRef: `customer-${n}` }, idempotencyKey: `story-${n}` }),
    );
    if (isRefusal(address)) throw new Error(address.code);
    const amount = 10n ** 17n + BigInt(n);
    const txid = await pay(address.address, amount);
    this.#paid.set(txid, { address: address.address, amount, survives: true });
    await mine(1);
    await receiver.next((got) => got.event === 'deposit_detected' && got.data['txid'] === txid);
    await mine(CONFIRMATIONS);
    await receiver.next((got) => got.event === 'deposit_confirmed' && got.data['txid'] === txid);
    const built = await patiently('build', () =>
      client.call('buildTransaction', {
        body: { chain: 'eth', from: address.address, to: OUTSIDER, amount: String(WITHDRAWN) },
        idempotencyKey: `build-${n}`,
      }),
    );
    if (isRefusal(built)) throw new Error(built.code);
    await patiently('broadcast', () => client.call('broadcastTransaction', { params: { id: built.id } }));
    await patiently(
      'pending',
      async () => anvil.rpc<{ pending: object }>('txpool_content'),
      ({ pending }) => Object.keys(pending).length > 0,
    );
    await mine(1 + CONFIRMATIONS);
    await receiver.next((got) => got.event === 'withdrawal_confirmed' && got.data['transactionId'] === built.id);
  }

  /** Nothing was lost, nothing doubled. */
  async check(t: ExecutionContext): Promise<void> {
    const { mine, anvil } = this.#company;
    await mine(CONFIRMATIONS);
    const books = () => problemsOfBooks({ ...this.#company, paid: this.#paid });
    const problems = await patiently('books', books, (found) => found.length === 0).catch(books);
    t.deepEqual(problems, []);
    const got = BigInt(await anvil.rpc<string>('eth_getBalance', [OUTSIDER, 'latest']));
    t.is(got, WITHDRAWN * BigInt(this.count), 'each withdrawal was paid once');
  }
}
