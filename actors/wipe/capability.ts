/** The wipe of an account. */
import type { WipeSees } from '../../model/account/capabilities.ts';
import type { WipeCommand, WipeState } from '../../model/account/wipe.ts';
import type { Capability } from '../account/decision.ts';
import { cancelWipe, closeForWipe, endWipe, scheduleWipe, wipeAccount } from './decide.ts';
import { wipeFolds } from './evolve.ts';

export const wipe: Capability<WipeCommand, WipeSees, WipeState> = {
  owns: ['wipe'],
  decide: {
    schedule_wipe: scheduleWipe,
    cancel_wipe: cancelWipe,
    close_for_wipe: closeForWipe,
    wipe_account: wipeAccount,
    end_wipe: endWipe,
  },
  folds: wipeFolds,
};
