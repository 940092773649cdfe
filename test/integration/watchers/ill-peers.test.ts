/** Peers that lag, lie, limit, die and reorganise in every order of some seeds: the watcher always comes through. */
import test from 'ava';
import { keyOf as tronKey } from '../../../developer/stand-ins/tron/stand-in.ts';
import { person } from '../../../developer/stand-ins/xlm/people.ts';
import { walletOf } from '../../../developer/stand-ins/xrp/signers.ts';
import { keyOf as solKey } from '../../support/sol-node.ts';
import { openBtc } from '../../support/soak/btc.ts';
import { openEvm } from '../../support/soak/evm.ts';
import { playEveryLie, playIll } from '../../support/soak/ill-peers.ts';
import { openSol } from '../../support/soak/sol.ts';
import { openTron } from '../../support/soak/tron.ts';
import { openXlm } from '../../support/soak/xlm.ts';
import { openXrp } from '../../support/soak/xrp.ts';

const FIRST_SEED = Number(process.env.FLOCK_SEED ?? 18);
const SEEDS = Number(process.env.FLOCK_SEEDS ?? 1);
const STEPS = 20;
/** A chain takes seconds; only one that hangs takes this long on any machine. */
const HANG_MS = 600_000;

const CASES = [
  ['eth', () => openEvm('eth'), '0x52908400098527886E0F7030069857D2E4169EE7'],
  ['btc', openBtc, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['tron', openTron, tronKey('shop').address],
  ['sol', openSol, solKey(2).address],
  ['xrp', openXrp, walletOf('shop').classicAddress],
  ['xlm', openXlm, person(33).publicKey()],
] as const;

for (const [chain, open, address] of CASES) {
  test.serial(
    `G8 G10 G11 C1-1 C1-4 C1-6 C1-12 ${chain}: peers ill in every order, and then well: what stands is matured, once; what is gone is not`,
    async (t) => {
      t.timeout(HANG_MS * SEEDS);
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1)
        t.deepEqual(await playIll(open, address, seed, STEPS), [], `seed ${seed}`);
    },
  );

  test.serial(
    `G8 G9 C1-4 C1-6 ${chain}: each lie that its peers know, told by one of three: no payment is missed, none is made up`,
    async (t) => {
      t.timeout(HANG_MS);
      t.deepEqual(await playEveryLie(open, address), []);
    },
  );
}
