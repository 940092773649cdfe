/**
 * How each event of the catalogue comes about in a sandbox: by the levers and the operations that anybody has, so that
 * what is read afterwards agrees with the event. One without a recipe says what it needs. X32.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { EventName } from '../../protocol/slugs.ts';
import { isFlockError, type Flock } from '../typescript/src/index.ts';

/** Inputs by their names, each with what it is where nobody sets it. */
type Inputs = Readonly<Record<string, string>>;

export interface Recipe {
  readonly inputs: Inputs;
  /** Makes the fact. What it made is undone by the answer, where that is asked for. */
  make(flock: Flock, inputs: Inputs): Promise<() => Promise<unknown>>;
}

const DEPOSIT: Inputs = { chain: 'eth', userRef: 'flock-trigger', amount: '0.01' };
const LINK: Inputs = { chain: 'eth', asset: 'ETH', amount: '0.01', title: 'flock trigger' };
type Chain = Parameters<Flock['simulateDeposit']>[0]['chain'];

/** Pays a new address of ours. */
const deposit = (autoConfirm: boolean, more: Inputs = {}): Recipe => ({
  inputs: { ...DEPOSIT, ...more },
  async make(flock, { chain, userRef, amount }) {
    const { id, address } = await flock.createAddress({ chain: chain as Chain, userRef: userRef! });
    await flock.simulateDeposit({ chain: chain as Chain, address, amount: amount!, autoConfirm });
    return () => flock.archiveAddress({ id });
  },
});

const SEEN_LOOK_MS = 200;
const SEEN_LOOKS = 100;

/** Waits until the event before the one that is asked for is there: a block that nobody saw reverses nothing. */
async function seen(flock: Flock, event: EventName, act: () => Promise<() => Promise<unknown>>) {
  const since = (await flock.listEvents({ size: 1 })).content[0]?.id ?? 'start';
  const undo = await act();
  for (let look = 0; look < SEEN_LOOKS; look += 1) {
    const { content } = await flock.listEvents({ since });
    if (content.some((one) => one.event === event)) return undo;
    await delay(SEEN_LOOK_MS);
  }
  return undo;
}

/** What another recipe makes is in the newest blocks, which are replaced by ones without it. */
const reversed = (event: EventName, { inputs, make }: Recipe): Recipe => ({
  inputs: { ...inputs, depth: '1' },
  async make(flock, asked) {
    const undo = await seen(flock, event, () => make(flock, asked));
    await flock.simulateReorg({ chain: asked['chain'] as Chain, depth: Number(asked['depth']) });
    return undo;
  },
});

async function newLink(flock: Flock, { chain, asset, amount, title }: Inputs) {
  return flock.createPaymentLink({
    mode: 'fixed',
    chain: chain as Chain,
    asset: asset!,
    amount: amount!,
    title: title!,
  });
}

/** A fixed link that was paid has closed itself. */
async function closed(flock: Flock, id: string): Promise<void> {
  try {
    await flock.closePaymentLink({ id });
  } catch (error) {
    if (!isFlockError(error, 'CONFLICT')) throw error;
  }
}

/** Opens a payment towards a new link, and pays it. */
const payment = (autoConfirm: boolean, more: Inputs = {}): Recipe => ({
  inputs: { ...LINK, ...more },
  async make(flock, inputs) {
    const { id, slug } = await newLink(flock, inputs);
    const { address } = await flock.openCheckoutSession({ slug });
    const chain = inputs['chain'] as Chain;
    const { amount, paid = amount!, tokenContract } = inputs;
    const asset = tokenContract === undefined ? {} : { tokenContract };
    await flock.simulateDeposit({ chain, address, amount: paid, autoConfirm, ...asset });
    return () => closed(flock, id);
  },
});

/** Pays the address of a payment whose link was closed meanwhile: it is late, and credited all the same. */
const late: Recipe = {
  inputs: LINK,
  async make(flock, inputs) {
    const { id, slug } = await newLink(flock, inputs);
    const { address } = await flock.openCheckoutSession({ slug });
    await flock.closePaymentLink({ id });
    const { chain, amount } = inputs;
    await flock.simulateDeposit({ chain: chain as Chain, address, amount: amount!, autoConfirm: true });
    return async () => undefined;
  },
};

/** Of the catalogue, and no link here asks for it. */
const USDT = '0xdAC17F958D2ee523a2206206994597C13D831ec7';

const linkCreated: Recipe = {
  inputs: LINK,
  async make(flock, inputs) {
    const { id } = await newLink(flock, inputs);
    return () => flock.closePaymentLink({ id });
  },
};
const linkClosed: Recipe = {
  inputs: LINK,
  async make(flock, inputs) {
    const { id } = await newLink(flock, inputs);
    await flock.closePaymentLink({ id });
    return async () => undefined;
  },
};

const WITHDRAWAL =
  'an address with funds and an edge that signs: api buildTransaction, then api broadcastTransaction --profile EDGE, then api simulateConfirmation';

/** A recipe, or what it needs. */
export const RECIPES: Readonly<Record<EventName, Recipe | string>> = {
  deposit_detected: deposit(false),
  deposit_confirmed: deposit(true),
  deposit_reversed: reversed('deposit_detected', deposit(false)),
  address_activated: deposit(true, { chain: 'xlm', amount: '5' }),
  withdrawal_broadcast: WITHDRAWAL,
  withdrawal_confirmed: WITHDRAWAL,
  withdrawal_failed: `${WITHDRAWAL}; it fails when what it spends is spent elsewhere (api simulateConflict)`,
  edge_offline: 'your edge to be stopped',
  edge_online: 'your edge to be started after it was offline',
  identity_rotation_detected: 'an edge that starts with another phrase',
  pool_low: 'an edge that is offline while addresses of sol or xlm are issued',
  funding_wallet_low: 'a gas tank with less than its bound, made a funding wallet: api createFundingWallet',
  payment_detected: payment(false),
  payment_confirmed: payment(true),
  payment_underpaid: payment(true, { paid: '0.004' }),
  payment_late: late,
  payment_reversed: reversed('payment_detected', payment(false)),
  payment_unmatched: payment(true, { paid: '2', tokenContract: USDT }),
  payment_link_created: linkCreated,
  payment_link_closed: linkClosed,
  sweep_completed: 'a sweep policy, an address with funds, and an edge whose caps allow it: api runSweepPolicy',
  sweep_paused: 'a sweep policy whose sweeps fail one after the other',
  bridge_completed: 'a live account, a bridge policy, and an edge whose caps allow it: api createBridgeTransfer',
  bridge_stalled: 'a bridge transfer whose burn nobody attests for long',
};
