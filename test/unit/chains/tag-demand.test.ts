import test from 'ava';
import { ChainUnavailable, type BuildInputs } from '../../../chains/chain.ts';
import { demandsTag } from '../../../chains/tag-demand.ts';
import { inputsOf as evmInputs } from '../../support/evm-inputs.ts';
import { accountOf, inputsOf as xlmInputs } from '../../support/xlm-inputs.ts';
import { inputsOf as xrpInputs } from '../../support/xrp-inputs.ts';

const asked = (inputs: BuildInputs) => demandsTag({ fetchBuildInputs: async () => inputs }, 'xrp', 'r');

test('treasury W2: an account that demands a tag is told from one that does not, and from none', async (t) => {
  const xrp = xrpInputs().destination!;
  t.true(await asked(xrpInputs({ destination: { ...xrp, requiresTag: true } })));
  t.false(await asked(xrpInputs({ destination: { ...xrp, requiresTag: false } })));
  t.false(await asked(xrpInputs({ destination: null })));
  t.true(await asked(xlmInputs('G', { destination: accountOf({ memoRequired: true }) })));
  t.false(await asked(xlmInputs('G', { destination: accountOf() })));
  t.false(await asked(xlmInputs('G', { destination: null })));
  t.false(await asked(evmInputs()));
  const down = { fetchBuildInputs: () => Promise.reject(new ChainUnavailable('xrp', 'silent')) };
  await t.throwsAsync(demandsTag(down, 'xrp', 'r'), { instanceOf: ChainUnavailable });
});
