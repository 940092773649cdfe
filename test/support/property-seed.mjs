/**
 * Loaded by every test process: where properties begin. A run says the same thing about the same tree, however often it
 * is made; `npm run soak -- --properties --seeds 20 --from 1` looks further, with other seeds, and names the one that
 * failed. A property that names a seed itself keeps it.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.FLOCK_PROPERTY_SEED ?? 20_261_130) });
