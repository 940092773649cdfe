/** 1,000 payments to 1,000 addresses on a real node, random reorgs, a cloud that is killed ten times. Seeded. */
import test from 'ava';
import { HDNodeWallet } from 'ethers';
import { isRefusal } from '../../protocol/errors.ts';
import { CONFIRMATIONS, openCompany, patiently, type Company } from '../support/company.ts';
import { problemsOfBooks, type Paid } from '../support/books.ts';
import { seeded } from '../support/seeded.ts';

const SEED = Number(process.env.FLOCK_SEED ?? 20_261_127);
const PAYMENTS = 1_000;
const KILLS = 10;
const PER_BLOCK = 20;
const ADDRESSES_AT_ONCE = 32;

async function issueAddresses({ client }: Company, count: number): Promise<string[]> {
  const issued: string[] = [];
  for (let n = 0; n < count; n += ADDRESSES_AT_ONCE) {
    const batch = Array.from({ length: Math.min(ADDRESSES_AT_ONCE, count - n) }, (_, k) =>
      patiently('address', () =>
        client.call('createAddress', {
          body: { chain: 'eth', userRef: `payer-${n + k}` },
          idempotencyKey: `payer-${n + k}`,
        }),
      ),
    );
    for (const address of await Promise.all(batch)) {
      if (!isRefusal(address)) issued.push(address.address);
    }
  }
  return issued;
}

/**
 * The payer signs by itself, so that a payment whose block is replaced can be included again with the same txid, or be
 * spent elsewhere with the same nonce and never come back.
 */
class Payer {
  readonly sent = new Map<string, Paid>();
  readonly #wallet = HDNodeWallet.fromPhrase('test test test test test test test test test test test junk');
  /** What stands for each nonce now. */
  readonly #byNonce: { raw: string; txid: string }[] = [];
  readonly #company: Company;

  constructor(company: Company) {
    this.#company = company;
  }

  async #submit(nonce: number, to: string, value: bigint, tip: bigint): Promise<string> {
    const raw = await this.#wallet.signTransaction({
      type: 2,
      chainId: 1,
      nonce,
      to,
      value,
      gasLimit: 21_000n,
      maxPriorityFeePerGas: tip,
      maxFeePerGas: 100n * tip,
    });
    const txid = await this.#company.anvil.rpc<string>('eth_sendRawTransaction', [raw]);
    this.#byNonce[nonce] = { raw, txid };
    return txid;
  }

  async pay(address: string, amount: bigint): Promise<void> {
    const txid = await this.#submit(this.#byNonce.length, address, amount, 1_000_000_000n);
    this.sent.set(txid, { address, amount, survives: true });
  }

  /**
   * Replaces blocks; of their payments nine in ten come back in the order of their nonces, the others are spent away.
   */
  async reorg(depth: number, random: () => number): Promise<void> {
    const { anvil } = this.#company;
    await anvil.rpc('anvil_reorg', [depth, []]);
    for (const [nonce, { raw, txid }] of this.#byNonce.entries()) {
      if ((await anvil.rpc('eth_getTransactionReceipt', [txid])) !== null) continue;
      const payment = this.sent.get(txid);
      if (payment !== undefined && random() < 0.1) {
        this.sent.set(txid, { ...payment, survives: false });
        await this.#submit(nonce, this.#wallet.address, 0n, 3_000_000_000n);
      } else {
        await anvil.rpc('eth_sendRawTransaction', [raw]).catch((error: unknown) => {
          if (!/already (known|imported)/.test(String(error))) throw error; // anvil kept it in its pool
        });
      }
    }
    await this.#company.mine(2);
  }
}

test(`each of ${PAYMENTS} payments is credited exactly once under reorgs and kills (seed ${SEED})`, async (t) => {
  t.timeout(600_000);
  const random = seeded(SEED);
  const company = await openCompany();
  try {
    const addresses = await issueAddresses(company, PAYMENTS);
    t.is(new Set(addresses).size, PAYMENTS);
    const killAt = new Set<number>();
    while (killAt.size < KILLS) killAt.add(1 + Math.floor(random() * (PAYMENTS / PER_BLOCK - 2)));
    const payer = new Payer(company);
    let restarting: Promise<unknown> = Promise.resolve();
    for (let block = 0; block * PER_BLOCK < PAYMENTS; block += 1) {
      for (let k = 0; k < PER_BLOCK; k += 1) {
        const n = block * PER_BLOCK + k;
        await payer.pay(addresses[n]!, 1_000_000n + BigInt(n));
      }
      await company.mine(1);
      if (random() < 0.2) await payer.reorg(1 + Math.floor(random() * (CONFIRMATIONS + 2)), random);
      if (killAt.has(block)) {
        await restarting;
        company.deployment.cloud.kill('SIGKILL');
        restarting = company.deployment.cloud.exited.then(() => company.deployment.restartCloud());
      }
    }
    await restarting;
    await company.mine(CONFIRMATIONS + 1);
    // The chain itself has the last word on which payments there are.
    const paid = new Map<string, Paid>();
    for (const [txid, payment] of payer.sent) {
      const receipt = await company.anvil.rpc<{ status: string } | null>('eth_getTransactionReceipt', [txid]);
      t.is(receipt?.status === '0x1', payment.survives, `${txid} is where the model has it`);
      paid.set(txid, payment);
    }
    const survivors = [...paid.values()].filter(({ survives }) => survives).length;
    t.true(survivors > PAYMENTS * 0.8 && survivors < PAYMENTS, `${survivors} payments are on the chain`);
    const problems = await patiently(
      'books',
      () => problemsOfBooks({ ...company, paid }),
      (found) => found.length === 0,
    ).catch(() => problemsOfBooks({ ...company, paid }));
    t.deepEqual(problems.slice(0, 20), []);
    t.log(
      `${survivors} of ${PAYMENTS} payments on the chain, ${company.receiver.received.length} deliveries, ${KILLS} kills`,
    );
  } finally {
    await company.close();
  }
});
